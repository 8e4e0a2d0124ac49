package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A calibration counts groups by support: above 0.9, from 0.5, below; groups
// that exist and groups that do not.
type calibration struct{ real, false [3]int }

func (c *calibration) add(known [][]int, repetitions ...mat.Matrix) error {
	result, err := (&topology.Linkage{MinSupport: 1e-9}).Reconstruct(repetitions...)
	if err != nil {
		return err
	}
	exists := map[string]bool{}
	for _, g := range known {
		exists[key(g)] = true
	}
	for _, g := range result.Hierarchy.Groups()[1:] {
		bin := 2
		if g.Support > 0.9 {
			bin = 0
		} else if g.Support >= 0.5 {
			bin = 1
		}
		if exists[key(g.Hosts)] {
			c.real[bin]++
		} else {
			c.false[bin]++
		}
	}
	return nil
}

// allGroups are the groups of all levels, whether the matrix shows them or not.
func (s dataSet) allGroups() [][]int {
	var all [][]int
	for _, l := range s.levels {
		for _, g := range l.groups {
			g = slices.Clone(g)
			slices.Sort(g)
			all = append(all, g)
		}
	}
	return all
}

// BenchmarkLinkageCalibration reports how many groups of each support exist,
// and how many do not; run it with -benchtime=1x.
func BenchmarkLinkageCalibration(b *testing.B) {
	report := func(b *testing.B, c calibration) {
		for k, bin := range []string{">0.9", "0.5-0.9", "<0.5"} {
			b.ReportMetric(float64(c.real[k]), "real"+bin)
			b.ReportMetric(float64(c.false[k]), "false"+bin)
		}
	}
	for _, kinds := range [][]string{{"cores"}, {"machines", "fabrics", "papers"}, {"simgrid"}} {
		sets := dataSets(b, kinds...)
		for _, tt := range []struct {
			name   string
			change func(dataSet, *rand.Rand) dataSet
			twice  float64 // noise of two repetitions of the changed set; 0: one, as it is
			seeds  int
		}{
			{"plain", func(s dataSet, rng *rand.Rand) dataSet { return s.permuted(rng) }, 0, 1},
			{"half", half, 0, 10},
			{"noise", noise3, 0, 10},
			{"twice 1 %", func(s dataSet, rng *rand.Rand) dataSet { return s.permuted(rng) }, 0.01, 10},
			{"twice 5 %", func(s dataSet, rng *rand.Rand) dataSet { return s.permuted(rng) }, 0.05, 10},
		} {
			b.Run(kinds[0]+"/"+tt.name, func(b *testing.B) {
				var c calibration
				for b.Loop() {
					c = calibration{}
					for _, s := range sets {
						n, _ := s.d.Dims()
						for seed := range tt.seeds {
							rng := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
							changed := tt.change(s, rng)
							reps := []mat.Matrix{changed.d}
							if tt.twice > 0 {
								reps = []mat.Matrix{changed.noisier(rng, tt.twice).d, changed.noisier(rng, tt.twice).d}
							}
							if err := c.add(changed.allGroups(), reps...); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
				report(b, c)
			})
		}
	}
	for _, lo := range []float64{1.15, 1.25} {
		for _, sigma := range []float64{0.01, 0.05} {
			for _, repetitions := range []int{1, 2} {
				b.Run(fmt.Sprintf("trees/ratio=%g/noise=%g/repetitions=%d", lo, sigma, repetitions), func(b *testing.B) {
					var c calibration
					for b.Loop() {
						c = calibration{}
						for seed := range 50 {
							rng := rand.New(rand.NewPCG(uint64(seed), 128))
							cluster, reps := measured(b, rng, randomTree(rng, 128, lo), 0, gen.Noise{Sigma: sigma, Outliers: 0.02}, repetitions)
							var known [][]int
							for _, g := range cluster.Hierarchy.Groups()[1:] {
								known = append(known, g.Hosts)
							}
							if err := c.add(known, reps...); err != nil {
								b.Fatal(err)
							}
						}
					}
					report(b, c)
				})
			}
		}
	}
}
