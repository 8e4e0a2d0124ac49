package rules

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

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
	if version(r.job.Library, mpich) == 0 {
		return fmt.Errorf("times of %q: want those of MPICH, with its version", r.job.Library)
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
	slices.SortStableFunc(measured, func(a, b communicator) int { return a.ranks - b.ranks })
	var out tree
	for i, c := range measured {
		if i == 0 || c.ranks > measured[i-1].ranks {
			out.add(fmt.Sprintf("comm_size<%d", c.ranks), own)
			out.add(fmt.Sprintf("comm_size<=%d", c.ranks), nil)
		}
		choices, err := r.mpichChoices(own, c)
		if err != nil {
			return fmt.Errorf("MPICH's own table: %w", err)
		}
		ours := &out[len(out)-1].node
		ours.add("comm_hierarchy="+c.kind, choices)
		if i == len(measured)-1 || c.ranks < measured[i+1].ranks {
			ours.add("comm_hierarchy=any", own)
		}
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
	all := []communicator{{r.job.Ranks, "parent"}, {r.job.Ranks, "flat"}}
	if r.job.Hosts == r.job.Ranks || version(r.job.Library, mpich) >= 5 {
		return all
	}
	all = append(all, communicator{r.job.Hosts, "node_roots"})
	for _, ranks := range r.job.PerHost {
		all = append(all, communicator{ranks, "node"})
	}
	return slices.DeleteFunc(all, func(c communicator) bool { return c.ranks < 2 })
}

// mpichChoices is the library's table for one communicator, with the measured choices in it. It has no conditions on
// the communicator: below a condition on sizes, MPICH takes comm_size<8 for comm_size<=8.
func (r *Rules) mpichChoices(own tree, c communicator) (tree, error) {
	ranges := r.ranges()
	bounds := own.bounds([]int64{math.MaxInt32}) // sizes in the table are of type int
	for _, x := range ranges[:len(ranges)-1] {
		bounds = append(bounds, min(x.upTo, math.MaxInt32))
	}
	slices.Sort(bounds)
	var out tree
	for _, bytes := range slices.Compact(bounds) {
		chosen, err := own.choose(c, bytes)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(ranges, func(x sizeRange) bool { return bytes <= x.upTo })
		if at < 0 {
			at = len(ranges) - 1
		}
		switch name := ranges[at].algorithm; {
		case name == "", name == "smp" && c.kind != "parent", name == "scatter_recursive_doubling_allgather" && !isPower(c.ranks):
			// The library's choice. MPICH makes it, too, where a forced algorithm cannot run.
		case name == "nb":
			chosen = "algorithm=MPIR_Bcast_allcomm_nb"
		default:
			chosen = mpichPrefix + name
		}
		if n := len(out); n > 0 && out[n-1].node[0].key == chosen {
			out = out[:n-1]
		}
		out.add(fmt.Sprintf("avg_msg_size<=%d", bytes), tree{{key: chosen}})
	}
	out[len(out)-1].key = "avg_msg_size=any"
	return out, nil
}

func isPower(n int) bool { return bits.OnesCount(uint(n)) == 1 }
