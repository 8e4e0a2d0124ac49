package record

import (
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// many are the measurements of 1,024 ranks in three repetitions, 3.1 million rows of
// what latencies have: nine whole numbers and five times in picoseconds.
func many() *File {
	const ranks, repetitions = 1024, 3
	f := &File{Header: Header{
		Ranks: ranks, Hosts: make([]string, ranks), Cores: make([]int, ranks), CPUs: make([]int, ranks), GOMAXPROCS: make([]int, ranks),
	}}
	s := &Section{Kind: "latency", Sizes: []int{8}, Columns: strings.Fields("repetition size from to round count batch lots unsure min_s q1_s median_s q3_s max_s"), Rounds: repetitions * (ranks - 1), TotalRounds: repetitions * (ranks - 1)}
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range repetitions {
		for from := range ranks {
			for to := range ranks {
				if from != to {
					t := 1e-6 * (1 + rng.Float64())
					s.Rows = append(s.Rows, float64(k), 0, float64(from), float64(to), float64(from^to), 20, 7, 1, 0)
					for _, stretch := range []float64{1, 1.1, 1.2, 1.3, 2} {
						s.Rows = append(s.Rows, math.Round(t*stretch*1e12)/1e12) // as package pingpong rounds them
					}
				}
			}
		}
	}
	f.Sections = []*Section{s}
	return f
}

func BenchmarkWriteManyRows(b *testing.B) {
	f := many()
	for b.Loop() {
		if err := f.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(f.Sections[0].NumRows()), "ns/row")
}
