package model_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Times of 10 us without a byte and of 20 us with 1000: Hockney's line goes through both, and 1000 bytes in 10 us are
// 100 MB/s.
func ExamplePLogP_Hockney() {
	p := model.PLogP{Latency: 6e-6, Sizes: []int64{0, 1000}, Gap: []float64{4e-6, 14e-6}}
	h, _ := p.Hockney()
	fmt.Printf("Hockney: %.0f us and %.0f MB/s, t(1000) = %.0f us\n", h.Latency*1e6, h.Bandwidth/1e6, h.Time(1000)*1e6)
	// Output:
	// Hockney: 10 us and 100 MB/s, t(1000) = 20 us
}

// Reinfjell 2023, table 2.1: of g(1) = 4 us, os = 1 us and or = 2 us, LogGP has L = 6 + 4 - 1 - 2 = 7
// us, o = (1 + 2)/2 us, g = 4 us, and of g(1000) = 14 us G = 14 ns per byte, so that 1000 bytes take
// o + 999 G + L + o = 1.5 + 13.99 + 7 + 1.5 us.
func ExamplePLogP_LogGP() {
	p := model.PLogP{
		Latency: 6e-6, Sizes: []int64{1, 1000}, Gap: []float64{4e-6, 14e-6},
		Send: []float64{1e-6, 1e-6}, Recv: []float64{2e-6, 2e-6},
	}
	l := p.LogGP(1000, 16)
	fmt.Printf("L %.0f us, o %.1f us, g %.0f us, G %.0f ns, P %d\n", l.L*1e6, l.O*1e6, l.Gap*1e6, l.BigGap*1e9, l.P)
	fmt.Printf("t(1000) = %.2f us\n", l.Time(1000)*1e6)
	// Output:
	// L 7 us, o 1.5 us, g 4 us, G 14 ns, P 16
	// t(1000) = 23.99 us
}

// Random load (Zhu et al. 2014, section 7.1): for each of 4 nodes 3 receivers are drawn, and
// each of the 12 transfers is taken with probability 1/2, so that 6 are to be expected. No transfer
// of 10 MB over links of 100 MB/s is complete before 0.1 s.
func ExampleRandomPattern() {
	n, err := model.FromGraph(twoRacks(100e6).Graph, topology.ChooseLowest)
	if err != nil {
		log.Fatal(err)
	}
	r, count, soonest := rand.New(rand.NewPCG(1, 1)), 0, math.Inf(1)
	for range 1000 {
		pattern := model.RandomPattern(r, n.Ranks(), 3, 10e6)
		times, err := n.Predict(nil, pattern)
		if err != nil {
			log.Fatal(err)
		}
		count += len(pattern)
		for _, t := range times {
			soonest = min(soonest, t)
		}
	}
	fmt.Printf("%.0f transfers per pattern, the soonest complete after %.1f s\n", float64(count)/1000, soonest)
	// Output:
	// 6 transfers per pattern, the soonest complete after 0.1 s
}
