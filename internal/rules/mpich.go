package rules

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// MPICH's variables.
const (
	mpichForced = "MPIR_CVAR_BCAST_INTRA_ALGORITHM"
	mpichFile   = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
)

// mpichAlgorithms are the algorithms of MPICH 3.4 to 5.0 that a table can name: those without parameters. A table
// that names another one without its parameters ends the job.
var mpichAlgorithms = []string{"binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"}

// mpichPrefix begins the names of algorithms within a communicator in the table.
const mpichPrefix = "algorithm=MPIR_Bcast_intra_"

// mpichSetting takes the forced algorithm out of the environment.
func (r *Report) mpichSetting(environment map[string]string) (setting, error) {
	if err := replacedFile(environment, mpichFile); err != nil {
		return setting{}, err
	}
	switch name := take(environment, mpichForced); {
	case name == "" || name == "auto":
		return setting{}, nil
	case slices.Contains(mpichAlgorithms, name):
		return setting{algorithm: name}, nil
	default:
		return setting{}, fmt.Errorf("%s=%s, which has parameters: want %s", mpichForced, name, words.Or(mpichAlgorithms))
	}
}

// WriteMPICH writes the rules as a table of MPICH 3.4 to 5.0. Such a table replaces the library's whole table, and
// MPICH ends a job for a collective that the table lacks. So library is the content of the library's own file,
// libmpich.so. The library's table stands in it as JSON, and all of it is kept but what was measured.
func (r *Rules) WriteMPICH(w io.Writer, library []byte) error {
	if version(r.job.library, mpich) == 0 {
		return fmt.Errorf("times of %q: want those of MPICH, with its version", r.job.library)
	}
	whole, err := ownTable(library)
	if err != nil {
		return fmt.Errorf("MPICH's own table: %w", err)
	}
	intra := whole.find("collective=bcast").find("comm_type=intra")
	if intra == nil {
		return fmt.Errorf("MPICH's own table has no broadcast")
	}
	own := *intra
	measured := r.mpichKinds()
	var out tree
	for _, size := range sizesOf(measured) {
		var ours tree
		for _, kind := range []string{"parent", "node_roots", "node", "flat"} {
			c := communicator{size, kind}
			if !slices.Contains(measured, c) {
				continue
			}
			steps, err := own.steps(c, step{upTo: maxBytes}, -1)
			if err != nil {
				return fmt.Errorf("MPICH's own table: %w", err)
			}
			ours.add("comm_hierarchy="+kind, r.replaced(steps, c))
		}
		ours.add("comm_hierarchy=any", own)
		out.add(fmt.Sprintf("comm_size<%d", size), own)
		out.add(fmt.Sprintf("comm_size<=%d", size), ours)
	}
	out.add("comm_size=any", own)
	*intra = out
	content := append(whole.appendJSON(nil), '\n')
	// MPICH maps the file and reads up to the zeros behind it. There are none behind a full page.
	const page = 4096
	if len(content)%page == 0 {
		content = append(content, '\n')
	}
	_, err = w.Write(content)
	return err
}

// A communicator is what the table knows of one. MPICH has four kinds: parent, of several ranks on some host,
// which consists of node_roots, one rank of each host, and of node, the ranks of a host; and flat, of one rank on
// each host. MPICH 5.0 takes all but parent for the same.
type communicator struct {
	ranks int
	kind  string
}

// mpichKinds are the communicators on which MPICH broadcast in the job: one of all ranks and, up to MPICH 4 and
// with several ranks on a host, its parts.
func (r *Rules) mpichKinds() []communicator {
	all := []communicator{{r.job.ranks, "parent"}, {r.job.ranks, "flat"}}
	if r.job.hosts == r.job.ranks || version(r.job.library, mpich) >= 5 {
		return all
	}
	all = append(all, communicator{r.job.hosts, "node_roots"})
	for _, ranks := range r.job.perHost {
		all = append(all, communicator{ranks, "node"})
	}
	return slices.DeleteFunc(all, func(c communicator) bool { return c.ranks < 2 })
}

// sizesOf are the sizes of communicators, ascending, each once.
func sizesOf(all []communicator) (sizes []int) {
	for _, c := range all {
		sizes = append(sizes, c.ranks)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// A step is what the table has for messages of up to upTo bytes, and more than those of the step before.
type step struct {
	upTo      int64
	algorithm string // with "algorithm="
}

const maxBytes = math.MaxInt32 // sizes in the table are of type int

// steps follows the table for a communicator, for messages of more than above bytes and up to those of s.
func (t tree) steps(c communicator, s step, above int64) ([]step, error) {
	var out []step
	for _, x := range t {
		name, number, _ := strings.Cut(x.key, "<")
		within, equal := strings.CutPrefix(number, "=")
		bound, wrong := strconv.ParseInt(within, 10, 64)
		if !equal {
			bound-- // less than
		}
		holds := false
		switch {
		case strings.HasPrefix(x.key, "algorithm="):
			s.algorithm = x.key
			return append(out, s), nil
		case name == "avg_msg_size" && wrong == nil:
			if bound <= above {
				continue
			}
			short := s
			short.upTo = min(s.upTo, bound)
			more, err := x.node.steps(c, short, above)
			if out = append(out, more...); err != nil || short.upTo == s.upTo {
				return out, err
			}
			above = short.upTo
		case x.key == "comm_size=any", x.key == "comm_hierarchy=any", x.key == "avg_msg_size=any":
			holds = true
		case x.key == "comm_hierarchy=parent":
			holds = c.kind == "parent"
		case x.key == "comm_size=pow2":
			holds = isPower(c.ranks)
		case name == "comm_size" && wrong == nil:
			holds = int64(c.ranks) <= bound
		default:
			return nil, fmt.Errorf("condition %q is not known", x.key)
		}
		if holds {
			more, err := x.node.steps(c, s, above)
			return append(out, more...), err
		}
	}
	return nil, fmt.Errorf("nothing for messages of more than %d bytes on %d ranks", above, c.ranks)
}

func isPower(n int) bool { return bits.OnesCount(uint(n)) == 1 }

// replaced are the library's steps for a communicator with the measured choices in their places.
func (r *Rules) replaced(own []step, c communicator) tree {
	var out []step
	add := func(s step) {
		if n := len(out); n > 0 && out[n-1].algorithm == s.algorithm {
			out[n-1].upTo = s.upTo
			return
		}
		out = append(out, s)
	}
	ranges := r.ranges()
	for i, k := 0, 0; i < len(own); {
		s := own[i]
		last := k == len(ranges)-1
		if !last {
			s.upTo = min(s.upTo, ranges[k].upTo)
		}
		switch name := ranges[k].algorithm; {
		case name == "", name == "smp" && c.kind != "parent", name == "scatter_recursive_doubling_allgather" && !isPower(c.ranks):
			// The library's choice. MPICH makes it, too, where a forced algorithm cannot run.
		case name == "nb":
			s.algorithm = "algorithm=MPIR_Bcast_allcomm_nb"
		default:
			s.algorithm = mpichPrefix + name
		}
		add(s)
		if s.upTo == own[i].upTo {
			i++
		}
		if !last && s.upTo == ranges[k].upTo {
			k++
		}
	}
	var t tree
	for i, s := range out {
		size := fmt.Sprintf("avg_msg_size<=%d", s.upTo)
		if i == len(out)-1 {
			size = "avg_msg_size=any"
		}
		t.add(size, tree{{key: s.algorithm}})
	}
	return t
}
