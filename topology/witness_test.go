package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// missingAndFalse compares found links with true ones.
func missingAndFalse(want, got []pair) (missing, wrong []pair) {
	for _, p := range want {
		if !slices.Contains(got, p) {
			missing = append(missing, p)
		}
	}
	isTrue := map[pair]bool{}
	for _, p := range want {
		isTrue[p] = true
	}
	for _, p := range got {
		if !isTrue[p] {
			wrong = append(wrong, p)
		}
	}
	return missing, wrong
}

func TestWitnessSpannerFindsTheLinksOfMeshes(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *wiring
	}{
		{"torus 8x8x16", torusWiring([]int{8, 8, 16}, 0, 0, 1)},
		{"dragonfly 33x8", dragonflyWiring(33, 8, 1, 2)},
		{"ring 32", torusWiring([]int{32}, 0, 0, 1)},
	} {
		n, d, want := c.w.hosts, c.w.distances(), c.w.pairs()
		if got := witnessSpanner(n, d, spannerTest{relative: 1e-9}); !slices.Equal(got, want) {
			t.Errorf("%s without noise: %d links, want the %d true ones", c.name, len(got), len(want))
		}
		for seed := range uint64(3) {
			m := noisy(rand.New(rand.NewPCG(seed, 1)), n, d, 0.01, 0)
			got := witnessSpanner(n, m, spannerTest{relative: 0.05})
			missing, wrong := missingAndFalse(want, got)
			if len(missing) > 0 || 100*len(wrong) > len(want) {
				t.Errorf("%s, 1 %% noise, seed %d: %d of %d links missing, %d false", c.name, seed, len(missing), len(want), len(wrong))
			}
		}
		rng := rand.New(rand.NewPCG(1, 3))
		m := smallest(noisy(rng, n, d, 0.01, 0.02), noisy(rng, n, d, 0.01, 0.02))
		got, _ := mendedSpanner(n, m, spannerTest{relative: 0.05})
		missing, wrong := missingAndFalse(want, got)
		if len(missing) > 0 || 100*len(wrong) > len(want) {
			t.Errorf("%s, 1 %% noise and 2 %% outliers, two repetitions: %d of %d links missing, %d false", c.name, len(missing), len(want), len(wrong))
		}
	}
}

// With 2 % of readings far too high in both of two repetitions, about one true
// link in 2500 is hidden. Mending finds it again unless its reading happens to
// fit another path; it must never make matters worse.
func TestMendedSpannerWithOutliers(t *testing.T) {
	var before, after int
	for _, c := range []struct {
		name string
		w    *wiring
	}{
		{"torus 8x8x8", torusWiring([]int{8, 8, 8}, 0, 0, 1)},
		{"dragonfly 33x8", dragonflyWiring(33, 8, 1, 2)},
	} {
		n, d, want := c.w.hosts, c.w.distances(), c.w.pairs()
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 2))
			m := smallest(noisy(rng, n, d, 0.01, 0.02), noisy(rng, n, d, 0.01, 0.02))
			test := spannerTest{relative: 0.05}
			missing, wrong := missingAndFalse(want, witnessSpanner(n, m, test))
			before += len(missing) + len(wrong)
			got, _ := mendedSpanner(n, m, test)
			missing, wrong = missingAndFalse(want, got)
			after += len(missing) + len(wrong)
			if 1000*len(missing) > len(want) || 100*len(wrong) > len(want) {
				t.Errorf("%s, seed %d: %d of %d links missing, %d false", c.name, seed, len(missing), len(want), len(wrong))
			}
		}
	}
	if 2*after > before {
		t.Errorf("%d wrong pairs before mending, %d after: want at most half", before, after)
	}
}

// Links of several lengths look like readings that are too high, noise aside.
func TestMendedSpannerLeavesGoodReadingsAlone(t *testing.T) {
	for _, w := range []*wiring{
		anisotropicTorus([]int{6, 6}, 1, 2), anisotropicTorus([]int{6, 6}, 1, 3), anisotropicTorus([]int{4, 5, 6}, 1, 2, 3),
		dragonflyWiring(9, 8, 1, 5), dragonflyWiring(17, 8, 1, 1), dragonflyWiring(1, 30, 1, 2), torusWiring([]int{4, 4}, 0, 0, 1),
	} {
		for seed := range uint64(4) {
			m := noisy(rand.New(rand.NewPCG(seed, 4)), w.hosts, w.distances(), 0.01, 0)
			want := witnessSpanner(w.hosts, m, spannerTest{relative: 0.05})
			if got, mended := mendedSpanner(w.hosts, m, spannerTest{relative: 0.05}); len(mended) > 0 || !slices.Equal(got, want) {
				t.Errorf("%d hosts, %d links, seed %d: mended %v", w.hosts, len(w.links), seed, mended)
			}
		}
	}
}

func TestMendedSpannerFindsALinkThatWasNotMeasured(t *testing.T) {
	w := torusWiring([]int{6, 6}, 0, 0, 1)
	d := w.distances()
	d[0*36+1], d[1*36+0] = math.NaN(), math.NaN()
	got, mended := mendedSpanner(36, d, spannerTest{relative: 0.01})
	if want := []pair{{0, 1}}; !slices.Equal(mended, want) {
		t.Errorf("mended = %v, want %v", mended, want)
	}
	if !slices.Equal(got, w.pairs()) {
		t.Errorf("links = %v, want those of the torus", got)
	}
	if d[1] != 1 || d[36] != 1 {
		t.Errorf("mended latencies = %g, %g, want 1, 1", d[1], d[36])
	}
}

// slowSpanner is the definition, O(n^3).
func slowSpanner(n int, m []float64, test spannerTest) []pair {
	var kept []pair
	for i := range n {
		for j := range n {
			w := m[i*n+j]
			if i == j || !test.directed && j < i || !(w < math.Inf(1)) {
				continue
			}
			explained := false
			for k := range n {
				a, b := m[i*n+k], m[k*n+j]
				explained = explained || k != i && k != j && a < w && b < w && a+b <= (1+test.relative)*w+test.absolute
			}
			if !explained {
				kept = append(kept, pair{i, j})
			}
		}
	}
	return kept
}

func randomMatrix(rng *rand.Rand, n int, directed bool) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			switch {
			case i == j:
				m[i*n+j] = math.NaN() // must not be read
			case j < i && !directed:
				m[i*n+j] = m[j*n+i]
			case rng.IntN(8) == 0:
				m[i*n+j] = math.NaN()
			default:
				m[i*n+j] = float64(rng.IntN(12)) // ties and zeros
			}
		}
	}
	return m
}

func TestWitnessSpannerAgreesWithItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 400 {
		n, directed := rng.IntN(14), trial%2 == 1
		test := spannerTest{relative: 0.3 * rng.Float64(), absolute: float64(rng.IntN(2)), directed: directed}
		m := randomMatrix(rng, n, directed)
		got, want := witnessSpanner(n, m, test), slowSpanner(n, m, test)
		if !slices.Equal(got, want) {
			t.Fatalf("trial %d: n %d, %+v, %v:\ngot  %v\nwant %v", trial, n, test, m, got, want)
		}
	}
}

func TestWitnessSpannerKeepsWhatIsConnectedConnected(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 2 + rng.IntN(12)
		m := randomMatrix(rng, n, false)
		links := witnessSpanner(n, m, spannerTest{relative: 2, absolute: 1})
		component := make([]int, n)
		for i := range component {
			component[i] = i
		}
		for range n {
			for _, p := range links {
				c := min(component[p.from], component[p.to])
				component[p.from], component[p.to] = c, c
			}
		}
		for i := range n {
			for j := range i {
				if m[i*n+j] >= 0 && component[i] != component[j] {
					t.Fatalf("%d and %d were measured, but the links %v do not join them", i, j, links)
				}
			}
		}
	}
}

func TestWitnessSpannerDependsOnNeitherLabelsNorProcessors(t *testing.T) {
	w := torusWiring([]int{4, 5, 6}, 0, 0, 1)
	rng := rand.New(rand.NewPCG(7, 8))
	n := w.hosts
	m := noisy(rng, n, w.distances(), 0.03, 0.02)
	test := spannerTest{relative: 0.1}
	want, _ := mendedSpanner(n, slices.Clone(m), test)

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got, _ := mendedSpanner(n, slices.Clone(m), test); !slices.Equal(got, want) {
		t.Error("one processor gives other links than several")
	}
	perm := rng.Perm(n)
	got, _ := mendedSpanner(n, relabelled(n, m, perm), test)
	var moved []pair
	for _, p := range want {
		a, b := perm[p.from], perm[p.to]
		moved = append(moved, pair{min(a, b), max(a, b)})
	}
	slices.SortFunc(moved, comparePairs)
	if !slices.Equal(got, moved) {
		t.Error("other labels give other links")
	}
}

func TestEndpointOverhead(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *wiring
	}{
		{"torus 8x8x8", torusWiring([]int{8, 8, 8}, 0, 0, 1)},
		{"dragonfly 17x8", dragonflyWiring(17, 8, 1, 2)},
		{"ring 32", torusWiring([]int{32}, 0, 0, 1)},
	} {
		n, d, want := c.w.hosts, c.w.distances(), c.w.pairs()
		for _, overhead := range []float64{0, 0.5, 2, 5} {
			m := slices.Clone(d)
			for i := range n {
				for j := range n {
					if i != j {
						m[i*n+j] += overhead
					}
				}
			}
			if got := endpointOverhead(n, m, transposed(n, m), 0); math.Abs(got-overhead) > 1e-9 {
				t.Errorf("%s without noise: overhead = %g, want %g", c.name, got, overhead)
			}
			m = noisy(rand.New(rand.NewPCG(1, 9)), n, m, 0.01, 0)
			got := endpointOverhead(n, m, transposed(n, m), 0.01)
			if math.Abs(got-overhead) > 0.05 { // a twentieth of a hop
				t.Errorf("%s with 1 %% noise: overhead = %g, want %g", c.name, got, overhead)
			}
			for i := range m {
				m[i] = max(0, m[i]-got)
			}
			missing, wrong := missingAndFalse(want, witnessSpanner(n, m, spannerTest{relative: 0.05, absolute: 0.05 * got}))
			if len(missing) > 0 || 100*len(wrong) > len(want) {
				t.Errorf("%s with 1 %% noise, overhead %g: %d of %d links missing, %d false", c.name, overhead, len(missing), len(want), len(wrong))
			}
		}
	}
}

func TestEndpointOverheadOfTooLittle(t *testing.T) {
	nan := math.NaN()
	for _, m := range [][]float64{{}, {0}, {0, 1, 1, 0}, {0, nan, nan, nan, 0, nan, nan, nan, 0}, make([]float64, 25)} {
		n := int(math.Sqrt(float64(len(m))))
		if got := endpointOverhead(n, m, transposed(n, m), 0.01); got != 0 {
			t.Errorf("endpointOverhead(%d, %v) = %g, want 0", n, m, got)
		}
	}
}

func BenchmarkWitnessSpanner(b *testing.B) {
	for _, c := range []struct {
		name string
		w    *wiring
	}{
		{"torus1024", torusWiring([]int{8, 8, 16}, 0, 0, 1)},
		{"star1024", torusWiring([]int{1}, 1024, 1, 1)},
	} {
		for _, noise := range []float64{0, 0.03} {
			b.Run(fmt.Sprintf("%s/noise%g", c.name, noise), func(b *testing.B) {
				m := noisy(rand.New(rand.NewPCG(1, 2)), c.w.hosts, c.w.distances(), noise, 0)
				test := spannerTest{relative: 3*noise + 0.02}
				b.ReportAllocs()
				for b.Loop() {
					mendedSpanner(c.w.hosts, m, test)
				}
			})
		}
	}
}

func BenchmarkEndpointOverhead(b *testing.B) {
	w := torusWiring([]int{8, 8, 16}, 0, 0, 1)
	m := noisy(rand.New(rand.NewPCG(1, 2)), w.hosts, w.distances(), 0.01, 0)
	columns := transposed(w.hosts, m)
	for b.Loop() {
		endpointOverhead(w.hosts, m, columns, 0.01)
	}
}
