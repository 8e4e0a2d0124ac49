package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// settled is an inserter with all hosts of cellsAndLeaves in their places, but for some that are left out.
func settled(out ...int32) (*inserter, *machine) {
	m := cellsAndLeaves()
	in := &inserter{tree: newTree(m.n), levels: &levels{noise: 0.03}, ledger: newLedger(nil, m.n), rng: rand.New(rand.NewPCG(1, 1))}
	for _, latency := range m.latency {
		in.levels.insert(math.Log(latency), 100)
	}
	root := in.tree.open(2, in.tree.top())
	vertex := root
	for h := range int32(m.n) {
		if h%24 == 0 {
			vertex = in.tree.open(1, root)
		}
		if h%8 == 0 {
			vertex = in.tree.open(0, in.tree.childOf(root, vertex))
		}
		if !slices.Contains(out, h) {
			in.tree.add(h, vertex)
		}
	}
	return in, m
}

// A host lies in a cell, and is measured as far from a host of the cell as from those outside. One such measurement may be an
// outlier, which 3 in 100 are: of one of a factor of 1 + outlierLeast to 14 the density is 0.03/2.4 per unit of the logarithm,
// against 0.97/(0.03 sqrt(2 pi)) of the level outside. That alone would be odds of 1,000 for the level outside, and a doubt of
// 0.001, which is tolerated. That the host lies in the cell has been decided, and outweighs one measurement. It does not
// outweigh two.
func TestOneOutlierContradictsNoPlace(t *testing.T) {
	in, m := settled(0)
	outside := math.Log(m.latency[2])
	host := &task{x: 0, v: in.tree.parent[in.tree.parent[1]]}
	in.question(host, 8)
	if done := in.take(host, pair{0, 8}, outside); done || len(in.strays) > 0 {
		t.Errorf("after one measurement of the level outside: done %t, strays %v, want neither", done, in.strays)
	}
	if done := in.take(host, pair{0, 9}, outside); !done || !slices.Equal(in.strays, []int32{0}) {
		t.Errorf("after two measurements of the level outside: done %t, strays %v, want host 0 to look elsewhere", done, in.strays)
	}
}

// A host whose place is in doubt is measured with the hosts of its group that it has not met, as long as there are any: one host
// that is in the wrong group itself, met twice, would speak twice.
func TestFurtherMeasurementsMeetOtherHosts(t *testing.T) {
	in, m := settled()
	log := func(b int32) {
		in.ledger.log = append(in.ledger.log, measurement{0, b, float32(m.at(0, b))})
	}
	ofHost := func() *relation {
		list := in.relations()
		return list[slices.IndexFunc(list, func(r *relation) bool { return r.a == 0 && r.b == none })]
	}
	for _, b := range []int32{1, 2, 3, 4, 5, 1, 2} { // 6 and 7 are left, though there are as many measurements as hosts
		log(b)
	}
	r := ofHost()
	met := make(map[int32]int)
	for range 100 {
		if p := in.further(r); p != nobody {
			met[p[1]]++
		}
	}
	if len(met) != 2 || met[6] == 0 || met[7] == 0 {
		t.Errorf("host 0 has met 1 to 5 of 1 to 7: it meets %v, want 6 and 7 alone", met)
	}
	log(6)
	log(7)
	r = ofHost()
	clear(met)
	for range 100 {
		if p := in.further(r); p != nobody {
			met[p[1]]++
		}
	}
	if len(met) != 7 {
		t.Errorf("host 0 has met all of its group: it meets %v, want all again", met)
	}
}
