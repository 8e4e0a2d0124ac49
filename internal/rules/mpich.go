package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// MPICHVariable is the variable of the environment by which MPICH finds what WriteMPICH wrote.
const MPICHVariable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"

// WriteMPICH writes the rules as MPICH 4 reads them: see MPICHVariable. Such a file takes the place of
// the library's whole table, of all collectives, and an operation that it lacks ends the job. So
// library is the content of the library's own file (libmpich.so), in which the table
// stands as JSON: all of it is kept but what is chosen for broadcasts on communicators of the job's
// sizes.
func (r *NativeRules) WriteMPICH(w io.Writer, library []byte) error {
	if strings.HasPrefix(r.Library, "Open MPI") {
		return fmt.Errorf("table: native: times of %q: want MPICH's for its rules", r.Library)
	}
	whole, err := ownTable(library)
	if err != nil {
		return fmt.Errorf("table: native: MPICH's own table: %w", err)
	}
	bcast := whole.find("collective=bcast")
	intra := bcast.find("comm_type=intra")
	if intra == nil {
		return fmt.Errorf("table: native: MPICH's own table has no broadcast")
	}
	own := *intra
	var sizes tree
	for _, size := range r.sizes {
		ours := tree{}
		for _, how := range []string{"comm_hierarchy=parent", "comm_hierarchy=any"} {
			steps, err := own.steps(step{communicator: size, parent: how == "comm_hierarchy=parent", upTo: maxSteps}, -1)
			if err != nil {
				return fmt.Errorf("table: native: MPICH's own table: %w", err)
			}
			ours.add(how, r.forcedSteps(steps, size))
		}
		sizes.add(fmt.Sprintf("comm_size<%d", size), own)
		sizes.add(fmt.Sprintf("comm_size<=%d", size), ours)
	}
	sizes.add("comm_size=any", own)
	*intra = sizes
	out := append(whole.appendJSON(nil), '\n')
	// MPICH maps the file and takes the zeros after it for its end, which a whole page has not.
	const page = 4096
	if len(out)%page == 0 {
		out = append(out, '\n')
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("table: native: %w", err)
	}
	return nil
}

// A tree is a node of MPICH's table: conditions and algorithms, the first that holds being followed.
type tree []struct {
	key  string
	node tree
}

func (t *tree) add(key string, node tree) {
	*t = append(*t, struct {
		key  string
		node tree
	}{key, node})
}

// find is the node below a key, or nil.
func (t *tree) find(key string) *tree {
	if t != nil {
		for i := range *t {
			if (*t)[i].key == key {
				return &(*t)[i].node
			}
		}
	}
	return nil
}

// appendJSON keeps the order, as encoding/json would not.
func (t tree) appendJSON(out []byte) []byte {
	out = append(out, '{')
	for i, x := range t {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, x.key), ':') // keys are plain
		out = x.node.appendJSON(out)
	}
	return append(out, '}')
}

// read reads an object of objects, whose first brace is read, to its last one.
func (t *tree) read(d *json.Decoder, depth int) error {
	const deepest = 32
	if depth > deepest {
		return fmt.Errorf("nested more than %d times", deepest)
	}
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return nil // the last brace: keys are strings
		}
		if !plain(key) {
			return fmt.Errorf("key %q", key)
		}
		if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
			return fmt.Errorf("below %s: %v, want an object", key, brace)
		}
		var node tree
		if err := node.read(d, depth+1); err != nil {
			return err
		}
		t.add(key, node)
	}
}

// ownTable finds the table of algorithms in the file of a library.
func ownTable(library []byte) (tree, error) {
	begin := []byte(`{"collective=`)
	for rest := library; ; {
		at := bytes.Index(rest, begin)
		if at < 0 {
			return nil, fmt.Errorf("not found in the file of the library: want that of libmpich.so of MPICH 4")
		}
		rest = rest[at:]
		text := rest
		if end := bytes.IndexByte(text, 0); end >= 0 {
			text = text[:end]
		}
		rest = rest[len(begin):]
		var t tree
		d := json.NewDecoder(bytes.NewReader(text))
		if _, err := d.Token(); err != nil {
			continue
		}
		if err := t.read(d, 0); err != nil {
			continue
		}
		// Others are of compositions, and of shared memory alone.
		if t.find("collective=bcast") != nil && bytes.Contains(text, []byte(`"algorithm=`+mpichPrefix)) {
			return t, nil
		}
	}
}

// mpichPrefix begins the names of its algorithms for broadcasts within a communicator.
const mpichPrefix = "MPIR_Bcast_intra_"

// A step is what the table has for messages of up to so many bytes, and more than those of the
// step before, on a communicator.
type step struct {
	communicator int  // ranks
	parent       bool // whether it is of several hosts with several ranks
	upTo         int64
	algorithm    string // with "algorithm="
}

const maxSteps = math.MaxInt32 // MPICH's sizes in tables are of type int

// steps follows the table for a communicator, for messages of more than the given bytes and up to those of s.
func (t tree) steps(s step, above int64) ([]step, error) {
	var out []step
	for _, x := range t {
		name, number, _ := strings.Cut(x.key, "<")
		within, equal := strings.CutPrefix(number, "=")
		bound, wrong := strconv.ParseInt(within, 10, 64)
		if !equal {
			bound-- // less than
		}
		switch {
		case strings.HasPrefix(x.key, "algorithm="):
			s.algorithm = x.key
			return append(out, s), nil
		case x.key == "avg_msg_size=any":
			more, err := x.node.steps(s, above)
			return append(out, more...), err
		case name == "avg_msg_size" && wrong == nil:
			if bound <= above {
				continue
			}
			short := s
			short.upTo = min(s.upTo, bound)
			more, err := x.node.steps(short, above)
			if out = append(out, more...); err != nil || short.upTo == s.upTo {
				return out, err
			}
			above = short.upTo
		default:
			holds := false
			switch {
			case x.key == "comm_size=any", x.key == "comm_hierarchy=any":
				holds = true
			case x.key == "comm_hierarchy=parent":
				holds = s.parent
			case x.key == "comm_size=pow2":
				holds = isPower(s.communicator)
			case name == "comm_size" && wrong == nil:
				holds = int64(s.communicator) <= bound
			default:
				return nil, fmt.Errorf("condition %q is not known", x.key)
			}
			if holds {
				more, err := x.node.steps(s, above)
				return append(out, more...), err
			}
		}
	}
	return nil, fmt.Errorf("nothing for messages of more than %d bytes on %d ranks", above, s.communicator)
}

func isPower(n int) bool { return bits.OnesCount(uint(n)) == 1 }

// forcedSteps are the library's steps for a communicator with what was forced in their places.
func (r *NativeRules) forcedSteps(own []step, communicator int) tree {
	var out []step
	put := func(s step) {
		if n := len(out); n > 0 && out[n-1].algorithm == s.algorithm {
			out[n-1].upTo = s.upTo
			return
		}
		out = append(out, s)
	}
	rules := r.merged()
	for i, k := 0, 0; i < len(own); {
		s := own[i]
		last := k == len(rules)-1
		if !last {
			s.upTo = min(s.upTo, rules[k].upTo)
		}
		switch name := rules[k].forced.Algorithm; {
		case name == "", name == "smp" && !s.parent, name == "scatter_recursive_doubling_allgather" && !isPower(communicator):
			// The library's choice, to which MPICH falls back where the algorithm cannot run.
		case name == "nb":
			s.algorithm = "algorithm=MPIR_Bcast_allcomm_nb"
		default:
			s.algorithm = "algorithm=" + mpichPrefix + name
		}
		put(s)
		if s.upTo == own[i].upTo {
			i++
		}
		if !last && s.upTo == rules[k].upTo {
			k++
		}
	}
	var t tree
	for i, s := range out {
		key := fmt.Sprintf("avg_msg_size<=%d", s.upTo)
		if i == len(out)-1 {
			key = "avg_msg_size=any"
		}
		t.add(key, tree{{key: s.algorithm}})
	}
	return t
}
