package linkage

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A sum, or a factor, that a host has in all its measurements is found, with its size; the
// groups are those without it. The numbers are those put in.
func TestLinkageFindsSlowHosts(t *testing.T) {
	n, exact := topotest.Nested([]int{6, 4}, []float64{2, 5})
	for _, tt := range []struct {
		name   string
		change func(d []float64, i, j int)
		want   []slowHost
	}{
		{"none", func([]float64, int, int) {}, nil},
		{"one by a sum", func(d []float64, i, j int) {
			if i == 7 || j == 7 {
				d[i*n+j] += 1.5
			}
		}, []slowHost{{host: 7, sum: 1.5, factor: 1}}},
		{"the first of each group by a sum", func(d []float64, i, j int) {
			if i%6 == 0 {
				d[i*n+j] += 3
			}
			if j%6 == 0 {
				d[i*n+j] += 3
			}
		}, []slowHost{{host: 0, sum: 3, factor: 1}, {host: 6, sum: 3, factor: 1}, {host: 12, sum: 3, factor: 1}, {host: 18, sum: 3, factor: 1}}},
		{"two of one group by a factor", func(d []float64, i, j int) {
			if i == 2 || i == 4 {
				d[i*n+j] *= 1.5
			}
			if j == 2 || j == 4 {
				d[i*n+j] *= 1.5
			}
		}, []slowHost{{host: 2, factor: 1.5}, {host: 4, factor: 1.5}}},
		// Host 7 is as far from its group as from all others: it lies outside.
		{"one outside", func(d []float64, i, j int) {
			if i == 7 || j == 7 {
				d[i*n+j] = 5
			}
		}, nil},
		// A switch between the group and three of its hosts is a group, not three slow hosts.
		{"three behind a switch", func(d []float64, i, j int) {
			for _, h := range []int{i, j} {
				if other := i + j - h; h < 3 && other >= 3 {
					d[i*n+j] += 1
				}
			}
		}, nil},
		// Among themselves hosts outside are as far as from others, slow ones farther.
		{"three outside all", func(d []float64, i, j int) {
			d[i*n+j] = 2
			if i < 3 || j < 3 {
				d[i*n+j] = 3
			}
		}, nil},
	} {
		d := slices.Clone(exact)
		for i := range n {
			for j := range n {
				if i != j {
					tt.change(d, i, j)
				}
			}
		}
		measured, err := measured.New("", []mat.Matrix{mat.NewDense(n, n, d)})
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := measured.Symmetric()
		if err != nil {
			t.Fatal(err)
		}
		got := slowHosts(r)
		if !slices.EqualFunc(got, tt.want, func(a, b slowHost) bool {
			return a.host == b.host && math.Abs(a.sum-b.sum) < 1e-5 && math.Abs(a.factor-b.factor) < 1e-5
		}) {
			t.Errorf("%s: slowHosts() = %v, want %v", tt.name, got, tt.want)
		}
		if tt.want == nil {
			continue
		}
		result, err := (&Robust{}).Reconstruct(mat.NewDense(n, n, d))
		if err != nil {
			t.Fatal(err)
		}
		groups := result.Hierarchy.Groups()[1:]
		if len(groups) != 4 || slices.ContainsFunc(groups, func(g topology.Group) bool { return len(g.Hosts) != 6 || !g.Confident() }) {
			t.Errorf("%s: groups %v, want four of six hosts", tt.name, groups)
		}
		if !slices.ContainsFunc(result.Warnings, func(w string) bool { return strings.Contains(w, "slow on every message") }) {
			t.Errorf("%s: warnings %q do not name the slow hosts", tt.name, result.Warnings)
		}
	}
}

func TestSlowWarning(t *testing.T) {
	for _, tt := range []struct {
		slow []slowHost
		want string
	}{
		{nil, ""},
		{[]slowHost{{host: 7, sum: 1.5e-6, factor: 1}}, "host 7 (1.5 us more) is slow on every message; its group is judged without that"},
		{[]slowHost{{host: 7, factor: 1.5}, {host: 9, factor: 2}}, "hosts 7 (1.5 times), 9 (2 times) are slow on every message; their groups are judged without that"},
	} {
		if got := slowWarning(tt.slow); got != tt.want {
			t.Errorf("slowWarning(%v) = %q, want %q", tt.slow, got, tt.want)
		}
	}
}

// By hand: sums 1, 2 and 100, and a factor of 2 on host 1. Of the pair (1, 0) 10 becomes (10-1-2)/2 = 3.5; a twentieth is
// always left; an estimate stays one.
func TestSubtractHostDelayByHand(t *testing.T) {
	r := measured.NewSymmetric(4, func(i, j int) float32 {
		if i == 3 && j == 1 {
			return -31
		}
		return float32(10*i + j)
	})
	q := subtractHostDelay(r, []slowHost{{host: 0, sum: 1, factor: 1}, {host: 1, sum: 2, factor: 2}, {host: 2, sum: 100, factor: 1}})
	for _, tt := range []struct {
		i, j int
		want float32
	}{{1, 0, 3.5}, {0, 2, 1}, {3, 1, -14.5}, {3, 0, 29}} {
		if got := q.At(tt.i, tt.j); got != tt.want {
			t.Errorf("hosts %d and %d: %g, want %g", tt.i, tt.j, got, tt.want)
		}
	}
	if subtractHostDelay(r, nil) != r {
		t.Error("nothing is taken out, yet the measurements are copied")
	}
	if r.At(1, 0) != 10 {
		t.Error("a correction changed what it was made of")
	}
}
