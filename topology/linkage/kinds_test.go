package linkage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A kind is a machine of any number of hosts, as its exact latencies, and how it is measured.
type kind struct {
	name        string
	sigma       float64 // noise of a measurement
	quantum     float64 // of the clock; 0: none
	repetitions int
	exact       func(rng *rand.Rand, n int) func(i, j int) float64
}

// levelsOf is a machine of nested groups: sizes from fine to coarse, in hosts, and the latency
// inside each; beyond is that between the coarsest.
func levelsOf(beyond float64, levels ...[2]float64) func(*rand.Rand, int) func(i, j int) float64 {
	return func(*rand.Rand, int) func(i, j int) float64 {
		return func(i, j int) float64 {
			for _, l := range levels {
				if size := int(l[0]); i/size == j/size {
					return l[1]
				}
			}
			return beyond
		}
	}
}

// gridOf is a grid of as many dimensions, of switches with hosts or of hosts wired to each other
// (0); around closes its lines to rings. A host more at the edge does no harm.
func gridOf(dimensions, hosts int, around bool) func(*rand.Rand, int) func(i, j int) float64 {
	return func(_ *rand.Rand, n int) func(i, j int) float64 {
		vertices := (n + max(hosts, 1) - 1) / max(hosts, 1)
		side := int(math.Ceil(math.Pow(float64(vertices), 1/float64(dimensions)) - 1e-9))
		return func(i, j int) float64 {
			hops := 0
			a, b := i/max(hosts, 1), j/max(hosts, 1)
			for range dimensions {
				d := a%side - b%side
				d = max(d, -d)
				if around {
					d = min(d, side-d)
				}
				hops += d
				a, b = a/side, b/side
			}
			if hosts > 0 {
				return 2 + float64(hops)
			}
			return float64(hops)
		}
	}
}

// dragonflyOf is groups of a routers of p hosts, each group with a link to each other one, which
// hang on the routers in turn.
func dragonflyOf(p, a int) func(*rand.Rand, int) func(i, j int) float64 {
	return func(*rand.Rand, int) func(i, j int) float64 {
		return func(i, j int) float64 {
			r, s := i/p, j/p
			g, h := r/a, s/a
			d := 2.0
			switch {
			case r == s:
			case g == h:
				d++
			default:
				d += 2
				if r%a != h%a {
					d++
				}
				if s%a != g%a {
					d++
				}
			}
			return d
		}
	}
}

// spaceOf is random points in a cube of as many dimensions.
func spaceOf(dimensions int) func(*rand.Rand, int) func(i, j int) float64 {
	return func(rng *rand.Rand, n int) func(i, j int) float64 {
		at := make([]float64, n*dimensions)
		for k := range at {
			at[k] = rng.Float64()
		}
		return func(i, j int) float64 {
			sum := 0.0
			for k := range dimensions {
				d := at[i*dimensions+k] - at[j*dimensions+k]
				sum += d * d
			}
			return 0.05 + math.Sqrt(sum)
		}
	}
}

// cloudOf has every pair of a machine off by a factor of its own, for good.
func cloudOf(machine func(*rand.Rand, int) func(i, j int) float64, spread float64) func(*rand.Rand, int) func(i, j int) float64 {
	return func(rng *rand.Rand, n int) func(i, j int) float64 {
		exact := machine(rng, n)
		own := make([]float32, n*n)
		for k := range own {
			own[k] = float32(math.Exp(spread * rng.NormFloat64()))
		}
		return func(i, j int) float64 { return exact(i, j) * float64(own[max(i, j)*n+min(i, j)]) }
	}
}

func kinds() []kind {
	tree := levelsOf(6, [2]float64{16, 2}, [2]float64{128, 4})
	pairs := levelsOf(4, [2]float64{2, 1}, [2]float64{32, 3})
	list := []kind{{"tree", 0.03, 0, 2, tree}} // the one that others are compared with
	for _, sigma := range []float64{0, 0.03, 0.05, 0.1} {
		for r := 1; r <= 2; r++ {
			if r == 1 || sigma > 0 {
				list = append(list, kind{"switch", sigma, 0, r, levelsOf(2)})
			}
		}
	}
	return append(list,
		kind{"tree", 0, 0, 1, tree},
		kind{"tree", 0.05, 0, 1, tree},
		kind{"tree", 0.1, 0, 1, tree},
		kind{"leaves of two", 0.03, 0, 1, pairs},
		kind{"leaves of two", 0.03, 0, 2, pairs},
		kind{"pairs on a switch", 0.05, 0, 1, levelsOf(3, [2]float64{2, 1})},
		kind{"ring of switches", 0.03, 0, 1, gridOf(1, 16, true)},
		kind{"torus of switches", 0.03, 0, 1, gridOf(2, 16, true)},
		kind{"torus of switches", 0.03, 0, 2, gridOf(3, 4, true)},
		kind{"mesh of switches", 0.03, 0, 1, gridOf(2, 16, false)},
		kind{"line of hosts", 0.01, 0, 1, gridOf(1, 0, false)},
		kind{"ring of hosts", 0.03, 0, 1, gridOf(1, 0, true)},
		kind{"torus of hosts", 0, 0, 1, gridOf(2, 0, true)},
		kind{"torus of hosts", 0.03, 0, 2, gridOf(2, 0, true)},
		kind{"torus of hosts", 0.05, 0, 1, gridOf(3, 0, true)},
		kind{"mesh of hosts", 0.03, 0, 1, gridOf(2, 0, false)},
		kind{"dragonfly", 0.03, 0, 1, dragonflyOf(4, 8)},
		kind{"dragonfly", 0.03, 0, 2, dragonflyOf(8, 16)},
		kind{"space", 0.02, 0, 1, spaceOf(2)},
		kind{"space", 0.02, 0, 2, spaceOf(3)},
		kind{"cloud", 0.02, 0, 2, cloudOf(levelsOf(2), 0.2)},
		kind{"cloud of zones", 0.02, 0, 2, cloudOf(levelsOf(4, [2]float64{64, 2}), 0.2)},
		kind{"cloud of zones", 0.02, 0, 1, cloudOf(levelsOf(4, [2]float64{64, 2}), 0.2)},
		kind{"coarse clock", 0.03, 0.5, 1, levelsOf(2)},
		kind{"coarse clock", 0.03, 0.5, 2, tree},
		kind{"equal", 0, 0, 1, levelsOf(1)},
		kind{"lognormal", 0, 0, 1, cloudOf(levelsOf(1), 1)},
	)
}

// measure returns repetitions of n hosts numbered at random, with 2 % of outliers where
// there is noise.
func (k kind) measure(n int) []mat.Matrix {
	rng := rand.New(rand.NewPCG(uint64(n), 90))
	exact, label := k.exact(rng, n), rng.Perm(n)
	reps := make([]mat.Matrix, k.repetitions)
	for r := range reps {
		d := make([]float64, n*n)
		for i := range n {
			for j := range i {
				v := exact(label[i], label[j])
				if k.sigma > 0 {
					v *= 1 + k.sigma*max(-3, min(3, rng.NormFloat64()))
					if rng.Float64() < 0.02 {
						v *= 1.5 + 3*rng.Float64()
					}
				}
				if k.quantum > 0 {
					v = k.quantum * math.Round(v/k.quantum)
				}
				d[i*n+j], d[j*n+i] = v, v
			}
		}
		reps[r] = mat.NewDense(n, n, d)
	}
	return reps
}

// BenchmarkLinkageKinds reports what Robust takes for machines of every kind, in ms of
// processor time on one core, and as a ratio to a tree of as many hosts measured in the same
// run; how many groups it finds, how many of them confident, and how much it warns. Run it with
// -benchtime=1x: of many hosts, and -short for 1024 alone.
func BenchmarkLinkageKinds(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1024, 4096} {
		reference := math.NaN()
		for _, k := range kinds() {
			b.Run(fmt.Sprintf("n=%d/%s/noise=%g/R=%d", n, k.name, k.sigma, k.repetitions), func(b *testing.B) {
				if testing.Short() && n > 1024 {
					b.Skip("short")
				}
				reps := k.measure(n)
				runtime.GC()
				before := userSeconds()
				var r *topology.Result
				for b.Loop() {
					r = reconstruct(b, reps...)
				}
				each := 1e3 * (userSeconds() - before) / float64(b.N)
				if math.IsNaN(reference) {
					reference = each
				}
				confident := 0
				for _, g := range r.Hierarchy.Groups()[1:] {
					if g.Confident() {
						confident++
					}
				}
				b.ReportMetric(each, "user-ms/op")
				b.ReportMetric(each/reference, "trees")
				b.ReportMetric(r.Fit.TreeLikeness, "tree-likeness")
				b.ReportMetric(float64(len(r.Hierarchy.Groups())-1), "groups")
				b.ReportMetric(float64(confident), "confident")
				b.ReportMetric(float64(len(r.Warnings)), "warnings")
				b.Logf("%s %.300q", r.Fit.Family, r.Warnings)
			})
		}
	}
}
