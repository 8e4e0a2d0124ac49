package zhu_test

import (
	"fmt"

	"github.com/topocast/topocast/examples/papers/zhu"
	"github.com/topocast/topocast/model/contention"
)

// Zhu et al. 2014, Table I: five transfers of 10 and 20 MB between two racks over NICs and a
// backbone of 940 Mbit/s each. The table prints 313.3, 626.6, 313.3, 313.3 and 626.6 Mbit/s, and
// 0.255 and 0.425 s.
func ExampleModel() {
	const mbit = 1e6 / 8 // B/s
	// Channels 2i and 2i+1 are the two directions of link i: the NICs of four hosts in each rack,
	// and the backbone.
	up := func(link int32) int32 { return 2 * link }
	down := func(link int32) int32 { return 2*link + 1 }
	const x1, x2, x3, x4, y1, y2, y3, y4, backbone = 0, 1, 2, 3, 4, 5, 6, 7, 8
	paths := [][]int32{
		{up(x1), up(backbone), down(y2)}, // e1
		{up(x1), down(x4)},               // e2
		{up(x2), up(backbone), down(y3)}, // e3
		{up(x3), up(backbone), down(y4)}, // e4
		{up(y1), down(y4)},               // e5, into the host that e4 goes to
	}
	var flows []contention.Flow
	for i, path := range paths {
		f := contention.Flow{Data: path, Bytes: 20e6}
		if i == 0 {
			f.Bytes = 10e6
		}
		for _, c := range path {
			f.Reverse = append(f.Reverse, c^1)
		}
		flows = append(flows, f)
	}
	capacity := make([]float64, 18)
	for i := range capacity {
		capacity[i] = 940 * mbit
	}
	m := zhu.Model{Asymmetric: true}
	rates := m.Rates(capacity, flows)
	for i, r := range rates {
		fmt.Printf("e%d: %.1f Mbit/s\n", i+1, r/mbit)
	}
	times, steps := m.Times(capacity, flows)
	fmt.Printf("%d steps: %.4f s\n", steps, times)
	// Output:
	// e1: 313.3 Mbit/s
	// e2: 626.7 Mbit/s
	// e3: 313.3 Mbit/s
	// e4: 313.3 Mbit/s
	// e5: 626.7 Mbit/s
	// 2 steps: [0.2553 0.2553 0.4255 0.4255 0.2553] s
}
