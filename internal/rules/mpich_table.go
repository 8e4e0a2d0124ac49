package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A tree is a node of MPICH's table. Its keys are conditions and algorithms; MPICH follows the first key that
// holds.
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

// appendJSON keeps the order of the keys, which encoding/json does not.
func (t tree) appendJSON(out []byte) []byte {
	out = append(out, '{')
	for i, x := range t {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, x.key), ':') // Go quotes plain keys as JSON does
		out = x.node.appendJSON(out)
	}
	return append(out, '}')
}

// read reads an object of objects up to its last brace. The first brace has been read.
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
		if strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
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

// choose follows the tree to the algorithm for messages of that size on a communicator.
func (t tree) choose(c communicator, bytes int64) (string, error) {
	for _, x := range t {
		holds := false
		switch name, most := bound(x.key); {
		case strings.HasPrefix(x.key, "algorithm="):
			return x.key, nil
		case x.key == "comm_size=any", x.key == "comm_hierarchy=any", x.key == "avg_msg_size=any":
			holds = true
		case x.key == "comm_hierarchy=parent":
			holds = c.kind == "parent"
		case x.key == "comm_size=pow2":
			holds = isPower(c.ranks)
		case name == "comm_size":
			holds = int64(c.ranks) <= most
		case name == "avg_msg_size":
			holds = bytes <= most
		default:
			return "", fmt.Errorf("condition %q is not known", x.key)
		}
		if holds {
			return x.node.choose(c, bytes)
		}
	}
	return "", fmt.Errorf("nothing for messages of %d bytes on %d ranks", bytes, c.ranks)
}

// bounds appends all sizes of messages at which a condition of the tree changes.
func (t tree) bounds(sizes []int64) []int64 {
	for _, x := range t {
		if name, most := bound(x.key); name == "avg_msg_size" {
			sizes = append(sizes, most)
		}
		sizes = x.node.bounds(sizes)
	}
	return sizes
}

// bound takes a condition like "comm_size<=8" or "comm_size<9" apart: the greatest number for which it holds is 8.
// The name is empty for other conditions.
func bound(condition string) (name string, most int64) {
	name, number, _ := strings.Cut(condition, "<")
	number, equal := strings.CutPrefix(number, "=")
	most, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", 0
	}
	if !equal {
		most--
	}
	return name, most
}

// ownTable finds the table of algorithms in the file of a library. The file has other tables: of compositions, and
// of algorithms for shared memory alone.
func ownTable(library []byte) (tree, error) {
	begin := []byte(`{"collective=`)
	for rest := library; ; {
		at := bytes.Index(rest, begin)
		if at < 0 {
			return nil, fmt.Errorf("not found in the file of the library: want libmpich.so of MPICH 3.4 to 5.0")
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
		if t.find("collective=bcast") != nil && bytes.Contains(text, []byte(`"`+mpichPrefix)) {
			return t, nil
		}
	}
}
