package model

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// pairTable finds the parameters of single directed pairs: those of source s
// are params[start[s]:start[s+1]], ordered by destination.
type pairTable struct {
	start  []int32
	params []PairParams
}

// newPairTable returns nil for an empty list.
func newPairTable(n int, pairs []PairParams) (*pairTable, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	t := &pairTable{start: make([]int32, n+1), params: make([]PairParams, len(pairs))}
	for i, p := range pairs {
		if p.Src < 0 || p.Src >= n || p.Dst < 0 || p.Dst >= n {
			return nil, fmt.Errorf("pair (%d,%d): want both in [0, %d)", p.Src, p.Dst, n)
		}
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("pair (%d,%d): %w", p.Src, p.Dst, err)
		}
		t.params[i] = PairParams{Src: p.Src, Dst: p.Dst, PLogP: p.clone()}
	}
	slices.SortStableFunc(t.params, func(a, b PairParams) int { return cmp.Or(a.Src-b.Src, a.Dst-b.Dst) })
	for i, p := range t.params {
		if i > 0 && p.Src == t.params[i-1].Src && p.Dst == t.params[i-1].Dst {
			return nil, fmt.Errorf("pair (%d,%d): given twice", p.Src, p.Dst)
		}
		t.start[p.Src+1]++
	}
	for s := range n {
		t.start[s+1] += t.start[s]
	}
	return t, nil
}

// find returns the parameters of a pair, or nil. O(log pairs of src).
func (t *pairTable) find(src, dst int) *PLogP {
	own := t.params[t.start[src]:t.start[src+1]]
	if k := sort.Search(len(own), func(k int) bool { return own[k].Dst >= dst }); k < len(own) && own[k].Dst == dst {
		return &own[k].PLogP
	}
	return nil
}

func (t *pairTable) list() []PairParams {
	if t == nil {
		return nil
	}
	return t.params
}
