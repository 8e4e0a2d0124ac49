package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSelectAgreesWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := make([]float32, 1+rng.IntN(60))
		kinds := 1 + rng.IntN(100)
		for i := range x {
			x[i] = float32(rng.IntN(kinds))
		}
		want := slices.Sorted(slices.Values(x))
		k := rng.IntN(len(x))
		if got := Select(x, k); got != want[k] {
			t.Fatalf("Select(rank %d of %v) = %g, want %g", k, want, got, want[k])
		}
		for i := range x {
			if i < k && x[i] > x[k] || i > k && x[i] < x[k] {
				t.Fatalf("Select left %v around rank %d", x, k)
			}
		}
	}
}

func TestQuantiles(t *testing.T) {
	tests := []struct {
		name string
		got  float64
		want float64
	}{
		{"lower median of two is the lower", LowerMedian([]float64{5, 3}), 3},
		{"median of three", LowerMedian([]float64{5, 3, 4}), 4},
		{"quantile 0 is the minimum", Quantile([]float64{5, 3, 4}, 0), 3},
		{"quantile 1 is the maximum", Quantile([]float64{5, 3, 4}, 1), 5},
		{"quantile 0.9 of ten is the ninth", Quantile([]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 0.9), 8},
		{"one value", LowerMedian([]float64{7}), 7},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %g, want %g", tt.name, tt.got, tt.want)
		}
	}
}

func TestClasses(t *testing.T) {
	tests := []struct {
		name      string
		values    []float64
		bandwidth float64
		want      []int
	}{
		{"nothing", nil, 1, []int{}},
		{"one value", []float64{3}, 1, []int{0}},
		{"equal values", []float64{3, 3, 3}, 1, []int{0, 0, 0}},
		{"two far apart, any order", []float64{100, 1, 101, 2}, 2, []int{1, 0, 1, 0}},
		// Two kernels of bandwidth h have two peaks only beyond a distance of 2h.
		{"closer than two bandwidths is one class", []float64{0, 1.9}, 1, []int{0, 0}},
		{"three bandwidths are two classes", []float64{0, 3, 0, 3}, 1, []int{0, 1, 0, 1}},
		{"no bandwidth: every value its own", []float64{1, 2, 1}, 0, []int{0, 1, 0}},
	}
	for _, tt := range tests {
		if got := Classes(tt.values, tt.bandwidth); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Classes(%v) = %v, want %v", tt.name, tt.values, got, tt.want)
		}
	}
}

// Where two kernels meet at a distance of 2.5 bandwidths, the
// valley is at 2 exp(-1.25^2/2) / (1+exp(-2.5^2/2)) = 0.877 of the peaks: one
// class. At 3 bandwidths it is 0.642: two.
func TestClassesMergesAtShallowValleys(t *testing.T) {
	if got := Classes([]float64{0, 2.5}, 1); got[1] != 0 {
		t.Errorf("a valley of 0.88 separates: %v", got)
	}
	if got := Classes([]float64{0, 3}, 1); got[1] != 1 {
		t.Errorf("a valley of 0.64 does not separate: %v", got)
	}
}

func TestClassesAreMonotoneAndScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		x := make([]float64, 1+rng.IntN(40))
		for i := range x {
			x[i] = math.Floor(rng.Float64()*5) + 0.1*rng.NormFloat64()
		}
		got := Classes(x, 0.1)
		for i := range x {
			for j := range x {
				if x[i] <= x[j] && got[i] > got[j] {
					t.Fatalf("%g is in class %d, %g in class %d", x[i], got[i], x[j], got[j])
				}
			}
		}
	}
}

// Half of a normal distribution lies within erfinv(1/2) sqrt 2 standard deviations.
func TestSigmaPerMAD(t *testing.T) {
	if want := 1 / (math.Sqrt2 * math.Erfinv(0.5)); math.Abs(SigmaPerMAD-want) > 1e-5 {
		t.Errorf("SigmaPerMAD = %v, want %v within 1e-5", SigmaPerMAD, want)
	}
}

func TestMiddleMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := MiddleMedian(c.values); got != c.want {
			t.Errorf("MiddleMedian(%v) = %g, want %g", c.values, got, c.want)
		}
	}
	if got := MiddleMedian(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing = %g, want NaN", got)
	}
}

// By hand: the lower median of three deviations 1, 2 and 4 is 2, and the differences of two values
// spread by sqrt 2 more than one.
func TestSigma(t *testing.T) {
	if got, want := Sigma([]float64{4, 1, 2}), 2*SigmaPerMAD; got != want {
		t.Errorf("Sigma = %g, want %g", got, want)
	}
	if got, want := SigmaOfOne([]float64{4, 1, 2}), math.Sqrt2*SigmaPerMAD; math.Abs(got-want) > 1e-15 {
		t.Errorf("SigmaOfOne = %g, want %g", got, want)
	}
	if a, b, c := Sigma(nil), SigmaOfOne(nil), Median(nil); !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c) {
		t.Errorf("of nothing: %g, %g, %g, want NaN", a, b, c)
	}
	if got := Median([]float64{4, 1, 2, 9}); got != 2 {
		t.Errorf("Median = %g, want the lower one, 2", got)
	}
}

func TestSortedFinite(t *testing.T) {
	values := []float64{3, math.NaN(), -1, math.Inf(1), 2, math.Inf(-1)}
	if got := SortedFinite(values); !slices.Equal(got, []float64{-1, 2, 3}) || values[0] != 3 {
		t.Errorf("SortedFinite = %v of %v, want -1, 2, 3", got, values)
	}
}

// The two estimators of noise give the standard deviation of normal values, whether every measurement is compared with
// another one or with a middle, and outliers of one in fifty hardly move either.
func TestNoiseOfNormalValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const sigma, n = 0.02, 20000
	draw := func() float64 {
		x := sigma * rng.NormFloat64()
		if rng.IntN(50) == 0 {
			x += 1
		}
		return x
	}
	var apart Differences
	values := make([]float64, n)
	for i := range values {
		apart.Add(math.Exp(draw()), math.Exp(draw()))
		values[i] = 5 + draw()
	}
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		apart.Add(x, 1)
		apart.Add(1, x)
	}
	if len(apart) != n {
		t.Errorf("%d differences of %d pairs that were measured", len(apart), n)
	}
	for name, got := range map[string]float64{"of repetitions": SigmaOfOne(apart), "about a middle": SigmaAbout(5, values)} {
		if math.Abs(got-sigma) > 0.05*sigma {
			t.Errorf("noise %s %.4f, want %.4f within a twentieth", name, got, sigma)
		}
	}
	if !math.IsNaN(SigmaOfOne(Differences(nil))) || !math.IsNaN(SigmaAbout(0, nil)) {
		t.Error("the noise of no values is a number")
	}
}

// The median of n normal values spreads by sqrt(pi/2n), about (Kenney, Keeping 1962): of 25 by 0.2507 of one.
func TestErrorOfMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n, runs = 25, 20000
	squares := 0.0
	for range runs {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		m := Median(x)
		squares += m * m
	}
	if got, want := ErrorOfMedian(1, n), math.Sqrt(squares/runs); math.Abs(got-want) > 0.03*want {
		t.Errorf("ErrorOfMedian(1, %d) = %.4f, want %.4f", n, got, want)
	}
}

func TestSmallest(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		x    []float64
		most int
		want []int32
	}{
		{[]float64{3, nan, 1, 2, 1}, 3, []int32{2, 4, 3}},
		{[]float64{3, nan, 1}, 5, []int32{2, 0}},
		{[]float64{3, 1}, 0, nil},
		{nil, 2, nil},
	} {
		if got := Smallest(tt.x, tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("Smallest(%v, %d) = %v, want %v", tt.x, tt.most, got, tt.want)
		}
	}
}
