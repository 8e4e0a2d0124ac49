package twolevel

import (
	"fmt"
	"slices"
)

// insideWarnings are those of the insides of nodes. Nodes are many and much
// alike: what is said of several is said once.
type insideWarnings struct {
	texts []string
	nodes [][]string // by text: whose inside it is said of
}

func (w *insideWarnings) add(node, text string) {
	i := slices.Index(w.texts, text)
	if i < 0 {
		i = len(w.texts)
		w.texts, w.nodes = append(w.texts, text), append(w.nodes, nil)
	}
	w.nodes[i] = append(w.nodes[i], node)
}

func (w *insideWarnings) all() []string {
	var all []string
	for i, text := range w.texts {
		where := w.nodes[i][0]
		if more := len(w.nodes[i]) - 1; more > 0 {
			where = fmt.Sprintf("%s and %d more", where, more)
		}
		all = append(all, fmt.Sprintf("inside node %s, whose ranks are counted from 0: %s", where, text))
	}
	return all
}
