package linkage

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/topology"
)

// The evidence of single measurements by hand: insiders at 10 us and nearer, outsiders at 20 to
// 30 us, noise 1 %. At the peak a bell is 1/(0.01 sqrt(2 pi)) = 39.9; an outlier has density
// 1/ln 10 = 0.434 anywhere above.
func TestEvidenceOfAMeasurement(t *testing.T) {
	b := margin{inHigh: math.Log(10), outLow: math.Log(20), outHigh: math.Log(30)}
	for _, tt := range []struct {
		name string
		x    float64 // us
		want float64
	}{
		{"an insider's measurement is beyond doubt", 10, -gapMost},
		{"so is one of a group inside", 4, -gapMost},
		// (0.75 39.9 + 0.25 0.434) / (0.02 0.434) = 3459
		{"an outsider's may be an outlier", 25, 8.15},
		// 0.25 / 0.02 = 12.5: far away, or slowed down
		{"beyond the outside one measurement tells little", 80, 2.53},
		{"between the two nothing but an outlier of an insider explains it", 14, -gapMost},
	} {
		if got := b.logRatio(math.Log(tt.x), 0.01); math.Abs(got-tt.want) > 0.01 {
			t.Errorf("%s: evidence of %g us = %.3f, want %.2f", tt.name, tt.x, got, tt.want)
		}
	}
	// Half way, in units of the noise, both are as likely but for the shares: ln 0.75/0.98.
	near := margin{inHigh: math.Log(10), outLow: math.Log(11), outHigh: math.Log(12)}
	if got := near.logRatio(math.Log(math.Sqrt(110)), 0.03); math.Abs(got+0.27) > 0.02 {
		t.Errorf("evidence half way = %.3f, want -0.27", got)
	}
}

// gapJudge judges groups of hosts with the measurements of f in us, 0 where there is none.
func gapJudge(n int, groups [][]int32, f func(i, j int) float32) (*judge, []int32) {
	t := &nested.Tree{N: n}
	var top []int32
	seen := make([]bool, n)
	for k, hosts := range groups {
		v := int32(n + k)
		t.Children = append(t.Children, hosts)
		t.Order = append(t.Order, hosts...)
		top = append(top, v)
		for _, h := range hosts {
			seen[h] = true
		}
	}
	for h := range n {
		if !seen[h] {
			top = append(top, int32(h))
			t.Order = append(t.Order, int32(h))
		}
	}
	t.Root = int32(n + len(groups))
	t.Children = append(t.Children, top)
	vertices := n + len(groups) + 1
	t.Parent, t.Lo, t.Hi = make([]int32, vertices), make([]int32, vertices), make([]int32, vertices)
	t.Level, t.Weight = make([]float64, len(groups)+1), make([]float64, len(groups)+1)
	for p, h := range t.Order {
		t.Lo[h], t.Hi[h] = int32(p), int32(p+1)
	}
	for k := len(groups); k >= 0; k-- {
		v := int32(n + k)
		for _, c := range t.Children[k] {
			t.Parent[c] = v
		}
	}
	for k := range t.Children {
		v := int32(n + k)
		kids := t.Children[k]
		t.Lo[v], t.Hi[v] = t.Lo[kids[0]], t.Hi[kids[len(kids)-1]]
	}
	t.Parent[t.Root] = -1
	r := measured.NewSymmetric(n, func(i, j int) float32 {
		if v := 1e-6 * f(i, j); v > 0 {
			return v
		}
		return -20e-6 // some estimate
	})
	return &judge{t: t, r: r, raw: r, residualNoise: 0.01, gapped: true}, top[:len(groups)]
}

// Twelve hosts on three switches; what is missing leaves one alternative or the other.
func TestGapsLeaveAlternatives(t *testing.T) {
	four := [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}
	exact := func(i, j int) float32 {
		if i/4 == j/4 {
			return 10
		}
		return 20
	}
	between := func(i, j int, a, b [2]int) bool {
		in := func(x int, r [2]int) bool { return x >= r[0] && x <= r[1] }
		return in(i, a) && in(j, b) || in(j, a) && in(i, b)
	}
	for _, tt := range []struct {
		name      string
		groups    [][]int32
		missing   func(i, j int) bool
		read      func(i, j int) float32
		confident []bool
	}{
		{"a pair missing far away matters to nobody", four, func(i, j int) bool { return between(i, j, [2]int{0, 0}, [2]int{4, 4}) }, exact, []bool{true, true, true}},
		{"one measurement between two switches is enough", four, func(i, j int) bool {
			return between(i, j, [2]int{0, 3}, [2]int{4, 7}) && i+j != 4
		}, exact, []bool{true, true, true}},
		{"two switches that were not compared may be one", four, func(i, j int) bool { return between(i, j, [2]int{0, 3}, [2]int{4, 7}) }, exact, []bool{false, false, true}},
		{"halves of a switch that were not compared", [][]int32{{0, 1}, {2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, func(i, j int) bool { return between(i, j, [2]int{0, 1}, [2]int{2, 3}) }, exact, []bool{false, false, true, true}},
		{"two switches taken for one", [][]int32{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}}, func(i, j int) bool { return between(i, j, [2]int{0, 3}, [2]int{4, 7}) }, exact, []bool{false, true}},
		{"a host of which nothing says that it is a member", four, func(i, j int) bool { return between(i, j, [2]int{0, 0}, [2]int{1, 3}) }, exact, []bool{false, true, true}},
		{"a host that may belong to any switch", [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10}}, func(i, j int) bool {
			return i == 11 && j >= 4 || j == 11
		}, exact, []bool{true, false, false}},
		{"one outlier is no proof that a host is outside", [][]int32{{0, 1, 2}, {4, 5, 6, 7}, {8, 9, 10, 11}}, func(i, j int) bool {
			return i == 3 && j > 0
		}, func(i, j int) float32 {
			if i == 3 && j == 0 {
				return 60
			}
			return exact(i, j)
		}, []bool{false, true, true}},
	} {
		g, groups := gapJudge(12, tt.groups, func(i, j int) float32 {
			if tt.missing(i, j) {
				return 0
			}
			return tt.read(i, j)
		})
		g.judgeAll()
		g.eliminate()
		for _, v := range groups {
			if g.confidence[int(v)-12] < topology.ConfidentFrom {
				t.Errorf("%s: confidence %.2f of %v by its measurements alone", tt.name, g.confidence[int(v)-12], g.t.Leaves(v))
			}
		}
		ceiling := g.gaps()
		for k, v := range groups {
			if c := ceiling[int(v)-12]; (c == 1) != tt.confident[k] || c < 1 && c > uncertainCeiling {
				t.Errorf("%s: most confidence of %v is %.2f, want it confident: %v", tt.name, g.t.Leaves(v), c, tt.confident[k])
			}
		}
	}
}
