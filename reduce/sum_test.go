package reduce_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/reduce"
)

// A kind of data is what a rank has at an index.
type kind struct {
	name  string
	value func(rng *rand.Rand, rank, i int) float64
}

func kinds() []kind {
	return []kind{
		{"normal", func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() }},
		{"uniform", func(rng *rand.Rand, _, _ int) float64 { return 2*rng.Float64() - 1 }},
		{"positive", func(rng *rand.Rand, _, _ int) float64 { return rng.ExpFloat64() }},
		{"whole", func(rng *rand.Rand, _, _ int) float64 { return float64(rng.IntN(2000) - 1000) }},
		{"sparse", func(rng *rand.Rand, _, _ int) float64 { return float64(rng.IntN(10)/9) * rng.NormFloat64() }},
		{"wide", func(rng *rand.Rand, _, _ int) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100) }},
		{"full range", func(rng *rand.Rand, _, _ int) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1050) }},
		{"subnormal", func(rng *rand.Rand, _, _ int) float64 { return math.Ldexp(rng.NormFloat64(), -1040) }},
		{"huge", func(rng *rand.Rand, _, _ int) float64 { return math.Ldexp(rng.NormFloat64(), 1019) }},
		{"zero", func(*rand.Rand, int, int) float64 { return 0 }},

		// Large numbers of two ranks cancel. What is left is small.
		{"cancelling", func(rng *rand.Rand, rank, i int) float64 {
			if rank < 2 {
				return float64(1-2*rank) * (1e16 + float64(i))
			}
			return rng.NormFloat64()
		}},

		// Magnitudes differ from element to element, by more than a word has bits in some blocks.
		{"mixed", func(rng *rand.Rand, _, i int) float64 {
			return math.Ldexp(1+rng.Float64(), -7*(i%64)*(i/64%3)) * float64(1-2*rng.IntN(2))
		}},
		// One step of the grid and less.
		{"near a step", func(rng *rand.Rand, _, i int) float64 {
			if i == 0 {
				return 1
			}
			return math.Ldexp(1+rng.Float64(), -50-i%16)
		}},
	}
}

// vectorsOf are the vectors of all ranks. Numbers too large for F are left out.
func vectorsOf[F float32 | float64](k kind, rng *rand.Rand, ranks, length int) [][]F {
	vectors := make([][]F, ranks)
	for rank := range vectors {
		vectors[rank] = make([]F, length)
		for i := range length {
			x := F(k.value(rng, rank, i))
			if F(0) == x*0 {
				vectors[rank][i] = x
			}
		}
	}
	return vectors
}

// checkSums holds sums to the bound for ordinary ones, by exact arithmetic.
func checkSums[F float32 | float64](vectors [][]F, sums []F) error {
	u, largest := math.Ldexp(1, -53), math.MaxFloat64
	if F(1)+F(u*2) == 1 {
		u, largest = math.Ldexp(1, -24), math.MaxFloat32
	}
	exactly := func(x float64) *big.Float { return new(big.Float).SetPrec(2400).SetFloat64(x) }
	n := float64(len(vectors) - 1)
	gamma := exactly(n * u / (1 - n*u))
	for i, got := range sums {
		sum, magnitude := exactly(0), exactly(0)
		for _, v := range vectors {
			x := exactly(float64(v[i]))
			sum.Add(sum, x)
			magnitude.Add(magnitude, x.Abs(x))
		}
		bound := magnitude.Mul(magnitude, gamma)
		if math.IsInf(float64(got), 0) {
			if math.Signbit(float64(got)) != sum.Signbit() || bound.Add(bound, sum.Abs(sum)).Cmp(exactly(largest)) < 0 {
				return fmt.Errorf("element %d of %d ranks: %v, want about %g", i, len(vectors), got, sum)
			}
			continue
		}
		if math.IsNaN(float64(got)) {
			return fmt.Errorf("element %d of %d ranks is %v, want %.20g", i, len(vectors), got, sum)
		}
		if off := exactly(float64(got)); off.Abs(off.Sub(off, sum)).Cmp(bound) > 0 {
			return fmt.Errorf("element %d of %d ranks: %v is off by %.4g, want at most %.4g", i, len(vectors), got, off, bound)
		}
	}
	return nil
}

// Sums are as accurate as the usual bound has it, and in two random orders of ranks the same.
func accurate[F float32 | float64, W int32 | int64](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := []int{3, 8, 64}
	if tooltest.Long() {
		numbers = []int{3, 4, 5, 8, 17, 64, 300}
	}
	for _, k := range kinds() {
		for _, ranks := range numbers {
			for _, length := range []int{1, 63, 200} {
				vectors := vectorsOf[F](k, rng, ranks, length)
				sums, _ := reduce.SumOf[F, W](vectors, rng)
				if err := checkSums(vectors, sums); err != nil {
					t.Errorf("%s: %v", k.name, err)
				}
				rng.Shuffle(ranks, func(i, j int) { vectors[i], vectors[j] = vectors[j], vectors[i] })
				if again, _ := reduce.SumOf[F, W](vectors, rng); !slices.Equal(again, sums) {
					t.Errorf("%s: %d ranks, %d elements: sums depend on the order", k.name, ranks, length)
				}
			}
		}
	}
}

func TestReproducibleSumsAreAccurate(t *testing.T) {
	t.Run("float64", accurate[float64, int64])
	t.Run("float32", accurate[float32, int32])
}

// worst has all ranks lose half a step of a grid, in the same direction, in elements of about the smallest size for which that is
// allowed.
func worst[F float32 | float64, W int32 | int64](t *testing.T, precision int) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, ranks := range []int{4, 10, 34, 130} {
		for _, share := range []float64{0.25, 0.5, 0.75, 0.9, 1, 1.1, 2} {
			least := share * math.Ldexp(1, precision-1) / float64(ranks-2)
			for step := -70; step < -10; step++ {
				vectors := make([][]F, ranks)
				for rank := range vectors {
					vectors[rank] = []F{1}
					for _, above := range []float64{0.5, 0.75, 2.5} {
						vectors[rank] = append(vectors[rank], F(math.Ldexp(2*math.Floor(least/2)+above, step)))
					}
				}
				sums, _ := reduce.SumOf[F, W](vectors, rng)
				if err := checkSums(vectors, sums); err != nil {
					t.Errorf("%g of the least share, step 2^%d: %v", share, step, err)
				}
			}
		}
	}
}

func TestReproducibleSumsAreAccurateAtWorst(t *testing.T) {
	t.Run("float64", func(t *testing.T) { worst[float64, int64](t, 53) })
	t.Run("float32", func(t *testing.T) { worst[float32, int32](t, 24) })
}

// Elements far smaller than the first one of their block get a second word, which has all their bits. Then they are rounded once.
func TestReproducibleSumsAreRoundedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, ranks := range []int{3, 4} {
		vectors := make([][]float64, ranks)
		for range 64 * 100 {
			for rank := range vectors {
				x := math.Ldexp(1+rng.Float64(), -60-rng.IntN(4)) * float64(1-2*rng.IntN(2))
				if len(vectors[rank])%64 == 0 {
					x = 1
				}
				vectors[rank] = append(vectors[rank], x)
			}
		}
		sums, words := reduce.SumOf[float64, int64](vectors, rng)
		if want := 64*100 + 63*100; words != want {
			t.Errorf("%d ranks: %d words, want %d", ranks, words, want)
		}
		for i, got := range sums {
			exact := new(big.Float).SetPrec(500)
			for _, v := range vectors {
				exact.Add(exact, big.NewFloat(v[i]))
			}
			if want, _ := exact.Float64(); got != want {
				t.Fatalf("%d ranks, element %d: %b, want %b", ranks, i, got, want)
			}
		}
	}
}

// Many ranks round the largest numbers to less than their own bits.
func TestReproducibleSumsOfManyRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range kinds() {
		wide := vectorsOf[float64](k, rng, 5000, 3)
		sums, _ := reduce.SumOf[float64, int64](wide, rng)
		narrow := vectorsOf[float32](k, rng, 5000, 3)
		narrowSums, _ := reduce.SumOf[float32, int32](narrow, rng)
		if err := checkSums(wide, sums); err != nil {
			t.Errorf("%s: float64: %v", k.name, err)
		}
		if err := checkSums(narrow, narrowSums); err != nil {
			t.Errorf("%s: float32: %v", k.name, err)
		}
	}
	all := make([][]float64, 3000)
	for i := range all {
		all[i] = []float64{math.MaxFloat64 * float64(1-2*(i%2)), 1}
	}
	if sums, _ := reduce.SumOf[float64, int64](all, rng); sums[0] != 0 || sums[1] != 3000 {
		t.Errorf("the largest numbers cancel to %v, want [0 3000]", sums)
	}
}

// The sums of 10,000 random orders of ranks, 100,000 in the long form, have the same bits. Those of an ordinary loop differ.
func TestReproducibleSumsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const ranks, length = 6, 70
	orders := 10000 / len(kinds())
	if tooltest.Long() {
		orders *= 10
	}
	for _, k := range kinds() {
		vectors := vectorsOf[float64](k, rng, ranks, length)
		want, _ := reduce.SumOf[float64, int64](vectors, rng)
		different := 0
		ordinary := make([]float64, length)
		for n := range orders {
			rng.Shuffle(ranks, func(i, j int) { vectors[i], vectors[j] = vectors[j], vectors[i] })
			if got, _ := reduce.SumOf[float64, int64](vectors, rng); !slices.Equal(got, want) {
				t.Fatalf("%s: order %d: %v, want %v", k.name, n, got, want)
			}
			loop := make([]float64, length)
			for _, v := range vectors {
				for i, x := range v {
					loop[i] += x
				}
			}
			if n > 0 && !slices.Equal(loop, ordinary) {
				different++
			}
			ordinary = loop
		}
		// Which data ordinary sums are exact for depends on the draw, and so on the number of orders.
		if exact := []string{"whole", "subnormal", "zero", "full range"}; tooltest.Long() && slices.Contains(exact, k.name) != (different == 0) {
			t.Errorf("%s: ordinary sums differ %d times", k.name, different)
		}
	}
}

// Data of one scale need one word per element. Others need more, and not many.
func TestReproducibleSumsNeedFewWords(t *testing.T) {
	most := map[string][2]float64{ // words per element: of float64, of float32
		"normal": {1, 1.03}, "uniform": {1, 1}, "positive": {1, 1}, "whole": {1, 1}, "subnormal": {1, 1}, "huge": {1, 1}, "zero": {1, 1},
		"sparse": {1.1, 1.5}, "wide": {2, 2.5}, "full range": {6, 8}, "cancelling": {1, 1}, "mixed": {6, 3}, "near a step": {1.5, 2},
	}
	rng := rand.New(rand.NewPCG(7, 8))
	const length = 6400
	for _, k := range kinds() {
		for _, ranks := range []int{8, 64} {
			_, words := reduce.SumOf[float64, int64](vectorsOf[float64](k, rng, ranks, length), rng)
			_, narrow := reduce.SumOf[float32, int32](vectorsOf[float32](k, rng, ranks, length), rng)
			have := [2]float64{float64(words) / length, float64(narrow) / length}
			if want := most[k.name]; have[0] > want[0] || have[1] > want[1] {
				t.Errorf("%s, %d ranks: %v words per element, want at most %v", k.name, ranks, have, want)
			}
			t.Logf("%s, %d ranks: %.3f words per element", k.name, ranks, have)
		}
	}
}

func FuzzReproducibleSum(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(1), uint8(0))
	f.Add([]byte("the quick brown fox jumps over the lazy dog"), uint64(2), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, width uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		ranks := 3 + rng.IntN(9)
		length := 1 + rng.IntN(90)
		// Bytes are exponents and patterns of numbers, over and over.
		at := 0
		next := func() (x float64) {
			if len(data) > 0 {
				b := int(data[at%len(data)])
				at++
				x = math.Ldexp(rng.Float64()-0.5, (b-128)*int(width)/32)
				if b%16 == 3 {
					x = math.Float64frombits(rng.Uint64() & rng.Uint64())
				}
			}
			if x-x != 0 {
				return 0
			}
			return x
		}
		k := kind{"fuzz", func(*rand.Rand, int, int) float64 { return next() }}
		wide, narrow := vectorsOf[float64](k, rng, ranks, length), vectorsOf[float32](k, rng, ranks, length)
		a, _ := reduce.SumOf[float64, int64](wide, rng)
		b, _ := reduce.SumOf[float32, int32](narrow, rng)
		if err := checkSums(wide, a); err != nil {
			t.Errorf("float64: %v", err)
		}
		if err := checkSums(narrow, b); err != nil {
			t.Errorf("float32: %v", err)
		}
		slices.Reverse(wide)
		slices.Reverse(narrow)
		again, _ := reduce.SumOf[float64, int64](wide, rng)
		narrowAgain, _ := reduce.SumOf[float32, int32](narrow, rng)
		if !slices.Equal(again, a) || !slices.Equal(narrowAgain, b) {
			t.Errorf("the order of ranks matters")
		}
	})
}
