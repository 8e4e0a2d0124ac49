package reduce_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/reduce"
)

// simulated is a cluster with the network that discover would find.
func simulated(t testing.TB, spec string) (*simnet.Cluster, *model.Network) {
	t.Helper()
	c, err := simnet.ParseCluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	var at []model.Location
	if err := simnet.Run(c.Graph, nil, c.Settings(), func(comm mpi.Communicator) error {
		places, err := mpi.GatherPlaces(comm)
		if comm.Rank() == 0 {
			for _, p := range places {
				at = append(at, model.Location{Host: p.Host, Core: p.Core})
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return c, casttest.NetworkAt(t, c.Hierarchy, at)
}

// bitsOf is what has to be the same.
func bitsOf[F float32 | float64](values []F) []uint64 {
	bits := make([]uint64, len(values))
	for i, x := range values {
		bits[i] = math.Float64bits(float64(x))
	}
	return bits
}

// The ranks run on any cores of a cluster, one to four per host. Each has the vector of any other. Reductions follow any
// algorithm, in any segments. All that gives the same bits. Ordinary sums differ.
func TestReproducibleReductionsOnAnyPlacement(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const ranks, length, perPlacement = 6, 70, 200
	shuffles := 2000
	if tooltest.Long() {
		shuffles = 100000
	}
	c, network := simulated(t, "core:4 host:2 rack:2")
	rng := rand.New(rand.NewPCG(1, 1))
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return slices.Contains([]string{"full range", "mixed"}, k.name) }) // of many rounds
	vectors := make([][]float64, ranks)
	for rank := range vectors {
		for i := range length {
			vectors[rank] = append(vectors[rank], all[(i/10)%len(all)].value(rng, rank, i))
		}
	}
	narrow := make([][]float32, ranks)
	for rank, v := range vectors {
		for _, x := range v {
			narrow[rank] = append(narrow[rank], float32(math.Mod(x, 1e30)))
		}
	}
	var want, wantNarrow []uint64
	ordinary, tried := map[string]bool{}, map[int]bool{}
	for placement := range shuffles / perPlacement {
		err := simnet.Run(c.Graph, rng.Perm(c.Graph.Hosts())[:ranks], c.Settings(), func(comm mpi.Communicator) error {
			r, err := reduce.New(comm, &reduce.Settings{Network: network, Reproducible: true})
			if err != nil {
				return err
			}
			rng := rand.New(rand.NewPCG(2, uint64(placement))) // the same on all ranks
			index, segment := 0, 0
			for k := range perPlacement {
				if k%5 == 0 {
					index, segment = rng.IntN(1000), []int{0, 80, 256}[rng.IntN(3)]
					reduce.Force(r, index, segment)
				}
				root := rng.IntN(2*ranks) - ranks
				of := rng.Perm(ranks)[comm.Rank()]
				if k%2 == 0 {
					err = same(r, comm.Rank(), root, vectors[of], &want)
				} else {
					err = same(r, comm.Rank(), root, narrow[of], &wantNarrow)
				}
				if err != nil {
					return fmt.Errorf("placement %d, shuffle %d, algorithm %d to %d, segments of %d B: %w", placement, k, index, root, segment, err)
				}
				tried[index%50] = true
			}
			plain, err := reduce.New(comm, &reduce.Settings{Network: network})
			if err != nil {
				return err
			}
			values := slices.Clone(vectors[rng.Perm(ranks)[comm.Rank()]])
			reduce.Force(plain, rng.IntN(1000), 0)
			err = reduce.AllreduceSlice(plain, values, mpi.Sum)
			ordinary[fmt.Sprint(bitsOf(values))] = true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(ordinary) < 3 || len(tried) < 45 {
		t.Errorf("%d different ordinary sums, %d algorithms, want several", len(ordinary), len(tried))
	}
}

// same sums vectors, of which this rank has one, and compares the bits with those of the first sum. The root is negative if all ranks want
// the result.
func same[F float32 | float64](r *reduce.Reducer, rank, root int, own []F, want *[]uint64) (err error) {
	values := slices.Clone(own)
	if root < 0 {
		err = reduce.AllreduceSlice(r, values, mpi.Sum)
	} else {
		err = reduce.ReduceSlice(r, values, mpi.Sum, root)
	}
	switch {
	case err != nil:
		return err
	case root >= 0 && root != rank:
		if !slices.Equal(values, own) {
			return fmt.Errorf("rank %d: its values change, though rank %d wants the result", rank, root)
		}
		return nil
	case *want == nil:
		*want = bitsOf(values)
	}
	if !slices.Equal(bitsOf(values), *want) {
		return fmt.Errorf("rank %d: other bits", rank)
	}
	return nil
}

// reproducible is a test on some ranks of this process.
func reproducible(t *testing.T, ranks int, work func(mpi.Communicator, *reduce.Reducer) error) {
	t.Helper()
	if err := local.Run(ranks, nil, func(c mpi.Communicator) error {
		r, err := reduce.New(c, &reduce.Settings{Budget: time.Millisecond, Reproducible: true})
		if err != nil {
			return err
		}
		return work(c, r)
	}); err != nil {
		t.Errorf("%d ranks: %v", ranks, err)
	}
}

// exactSums holds sums of a few numbers against the nearest number to the exact sum, which math/big works out. Exponents are of
// the whole range or of a part, so that sums carry, cancel, are subnormal or overflow.
func exactSums[F float32 | float64](t *testing.T, random func(rng *rand.Rand, least, span int) F) {
	sums, infinite, subnormal := 0, 0, 0
	for _, ranks := range []int{3, 7} {
		for _, root := range []int{reduce.AllRanks, 1} {
			reproducible(t, ranks, func(c mpi.Communicator, r *reduce.Reducer) error {
				for seed := range uint64(500) {
					rng := rand.New(rand.NewPCG(seed, uint64(ranks))) // the same on all ranks
					span, least := []int{1, 8, 60, 5000}[seed%4], int(seed/4%3)
					exact := new(big.Float).SetPrec(3000)
					var own F
					values := make([]F, ranks)
					for rank := range values {
						if values[rank] = random(rng, least, span); rank > 0 && rng.IntN(4) == 0 {
							values[rank] = -values[rng.IntN(rank)]
						}
						if seed%5 == 0 { // half a step off a number, and perhaps a little more or less
							switch half := halfStep(values[0]); rank {
							case 0:
							case 1:
								values[1] = half
							case 2:
								values[2] = F(math.Ldexp(float64(half), -rng.IntN(200))) * F(rng.IntN(3)-1)
							default:
								values[rank] = 0
							}
						}
						exact.Add(exact, new(big.Float).SetFloat64(float64(values[rank])))
					}
					own = values[c.Rank()]
					sum := []F{own}
					var err error
					if root == reduce.AllRanks {
						err = reduce.AllreduceSlice(r, sum, mpi.Sum)
					} else {
						err = reduce.ReduceSlice(r, sum, mpi.Sum, root)
					}
					want := own
					if root == reduce.AllRanks || root == c.Rank() {
						want = nearest[F](exact)
					}
					if err != nil || sum[0] != want {
						return fmt.Errorf("seed %d: the sum of %v is %v, want %v: %w", seed, values, sum[0], want, err)
					}
					if c.Rank() == 1 {
						sums++
						switch {
						case math.IsInf(float64(want), 0):
							infinite++
						case want != 0 && math.Abs(float64(want)) < float64(smallestNormal[F]()):
							subnormal++
						}
					}
				}
				return nil
			})
		}
	}
	if infinite == 0 || subnormal == 0 {
		t.Errorf("of %d sums %d are infinite and %d subnormal, want some", sums, infinite, subnormal)
	}
}

// halfStep is half of what the next number differs by, if it is a number.
func halfStep[F float32 | float64](x F) F {
	if reduce.SizeOf[F]() == 4 {
		return F(math.Nextafter32(float32(x), float32(math.Inf(1)))-float32(x)) / 2
	}
	return F(math.Nextafter(float64(x), math.Inf(1))-float64(x)) / 2
}

// nearest is the number nearest to an exact one.
func nearest[F float32 | float64](exact *big.Float) F {
	if reduce.SizeOf[F]() == 4 {
		x, _ := exact.Float32()
		return F(x)
	}
	x, _ := exact.Float64()
	return F(x)
}

func smallestNormal[F float32 | float64]() F {
	if reduce.SizeOf[F]() == 4 {
		return F(math.Float32frombits(1 << 23))
	}
	return F(math.Float64frombits(1 << 52))
}

func TestSumsOfFewNumbersAreExact(t *testing.T) {
	// The exponents of a sum are the least ones, the greatest, or between these.
	t.Run("float64", func(t *testing.T) {
		exactSums(t, func(rng *rand.Rand, least, span int) float64 {
			exponent := uint64(min(2046, []int{0, 1000, 2045}[least]+rng.IntN(span)))
			return math.Float64frombits(rng.Uint64()&^(0x7ff<<52) | exponent<<52)
		})
	})
	t.Run("float32", func(t *testing.T) {
		exactSums(t, func(rng *rand.Rand, least, span int) float32 {
			exponent := uint32(min(254, []int{0, 100, 253}[least]+rng.IntN(span)))
			return math.Float32frombits(rng.Uint32()&^(0xff<<23) | exponent<<23)
		})
	})
}

// What is not finite becomes what any order of IEEE additions makes of it, next to finite numbers. -0 alone becomes +0 from three
// ranks on. A sum may be too large for a number.
func specialSums[F float32 | float64](t *testing.T, largest F) {
	nan, inf := F(math.NaN()), F(math.Inf(1))
	other := F(math.Copysign(math.NaN(), -1))
	cases := []struct{ first, second, rest, want F }{
		{nan, 1, 2, nan},
		{other, nan, 2, nan},
		{inf, 1, 2, inf},
		{-inf, -inf, 2, -inf},
		{inf, -inf, 2, nan},
		{nan, inf, 2, nan},
		{inf, largest, largest, inf},
		{largest, largest, 0, inf},
		{-largest, -largest, 0, -inf},
		{largest, -largest, 1, F(math.NaN())},
		{1, 2, 4, 0},
		{F(math.Copysign(0, -1)), F(math.Copysign(0, -1)), F(math.Copysign(0, -1)), 0},
		{1, -1, 0, 0},
	}
	for _, ranks := range []int{2, 3, 5} {
		for _, root := range []int{reduce.AllRanks, 1} {
			reproducible(t, ranks, func(c mpi.Communicator, r *reduce.Reducer) error {
				for _, length := range []int{100, 1} {
					starts := len(cases)
					if length > 1 {
						starts = 1
					}
					for first := range starts {
						values, want := make([]F, length), make([]F, length)
						for i := range values {
							k := (first + i) % len(cases)
							x := cases[k]
							switch values[i] = x.rest; c.Rank() {
							case 0:
								values[i] = x.first
							case 1:
								values[i] = x.second
							}
							want[i] = x.want
							if k == 9 || k == 10 {
								want[i] = x.first + x.second + F(ranks-2)*x.rest
							}
							if x.first == 0 && ranks == 2 {
								want[i] = x.first + x.second
							}
						}
						var err error
						if root == reduce.AllRanks {
							err = reduce.AllreduceSlice(r, values, mpi.Sum)
						} else {
							err = reduce.ReduceSlice(r, values, mpi.Sum, root)
						}
						if err == nil && (root == reduce.AllRanks || root == c.Rank()) && !slices.Equal(bitsOf(values), bitsOf(want)) {
							err = fmt.Errorf("case %d on: %v, want %v", first, values, want)
						}
						if err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
	}
}

func TestReproducibleSpecialSums(t *testing.T) {
	t.Run("float64", func(t *testing.T) { specialSums(t, math.MaxFloat64) })
	t.Run("float32", func(t *testing.T) { specialSums(t, float32(math.MaxFloat32)) })
}

// Min and Max: -0 is below +0, and any NaN makes the one NaN. Integers and their products are what they always are.
func TestReproducibleExtrema(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	for first := range 3 {
		reproducible(t, 3, func(c mpi.Communicator, r *reduce.Reducer) error {
			own := [][]float64{
				{zero, 1, math.Float64frombits(0xfff8000000000123), -3, math.Inf(-1)},
				{0, -1, 2, math.Inf(1), -7},
				{0, 5, 9, -4, -0.5},
			}[(c.Rank()+first)%3]
			for i, want := range [][]float64{{zero, -1, nan, -4, math.Inf(-1)}, {0, 5, nan, math.Inf(1), -0.5}} {
				with := []mpi.Reduction{mpi.Min, mpi.Max}[i]
				values := slices.Clone(own)
				if err := reduce.AllreduceSlice(r, values, with); err != nil {
					return err
				}
				if !slices.Equal(bitsOf(values), bitsOf(want)) {
					return fmt.Errorf("reduction %d: %v, want %v", with, values, want)
				}
			}
			type product float32
			if err := reduce.AllreduceSlice(r, []product{1}, mpi.Product); err == nil || !strings.Contains(err.Error(), "product of floating-point numbers is not reproducible") {
				return fmt.Errorf("product: %v", err)
			}
			return reductions(r, c, 100)
		})
	}
}

// A named type, a communicator without requests, and no more than 2 ranks.
func TestReproducibleSums(t *testing.T) {
	type force float64
	for _, ranks := range []int{1, 2, 3, 4} {
		reproducible(t, ranks, func(c mpi.Communicator, _ *reduce.Reducer) error {
			for _, comm := range []mpi.Communicator{c, blocking{c}} {
				var s *reduce.Settings // those of rank 0 apply
				if c.Rank() == 0 {
					s = &reduce.Settings{Reproducible: true, Budget: time.Millisecond}
				}
				r, err := reduce.New(comm, s)
				if err != nil {
					return err
				}
				values := make([]force, 1000)
				for i := range values {
					values[i] = force(c.Rank()+1) * force(i)
				}
				if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
					return err
				}
				for i, x := range values {
					if want := force(i * ranks * (ranks + 1) / 2); x != want {
						return fmt.Errorf("value %d is %v, want %v", i, x, want)
					}
				}
			}
			return nil
		})
	}
}

// startTogether lets simulated ranks sleep until a moment that is the same on all of them.
func startTogether(comm mpi.Communicator) (begin float64, err error) {
	now := []float64{comm.(mpi.Clock).Now()}
	err = collective.Allreduce(collective.New(comm), now, mpi.Max)
	begin = now[0] + 1
	comm.(*simnet.Comm).Sleep(begin - comm.(mpi.Clock).Now())
	return begin, err
}

// Tune decides for all that a sum needs, even where elements need several words: the sum after it takes no more time than the next one.
func TestReproducibleSumsAreTuned(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, network := simulated(t, "core:2 host:2 rack:2")
	cases := []struct{ root, bytes int }{{reduce.AllRanks, 24000}, {1, 8}}
	if tooltest.Long() {
		cases = append(cases, []struct{ root, bytes int }{{1, 24000}, {reduce.AllRanks, 8}}...)
	}
	for _, x := range cases {
		var took [2][2]float64 // of float64 and float32, at first and next
		err := simnet.Run(c.Graph, nil, c.Settings(), func(comm mpi.Communicator) error {
			root, bytes := x.root, x.bytes
			r, err := reduce.New(comm, &reduce.Settings{Network: network, Reproducible: true})
			if err == nil && root == reduce.AllRanks {
				err = r.Tune(bytes)
			} else if err == nil {
				err = r.TuneRoot(root, bytes)
			}
			for i := range took[0] {
				if err == nil {
					err = timed(r, comm, root, make([]float64, bytes/8), &took[0][i])
				}
				if err == nil {
					err = timed(r, comm, root, make([]float32, bytes/4), &took[1][i])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, took := range took {
			if took[0] > 1.01*took[1] {
				t.Errorf("root %d, %d bytes of float%d: the first sum takes %g s, the next %g s", x.root, x.bytes, 64>>i, took[0], took[1])
			}
		}
	}
}

// timed sums vectors of all kinds. took becomes the time of the rank that takes longest.
func timed[F float32 | float64](r *reduce.Reducer, comm mpi.Communicator, root int, values []F, took *float64) error {
	rng, all := rand.New(rand.NewPCG(uint64(comm.Rank()), 1)), kinds()
	for i := range values {
		if x := F(all[i*len(all)/len(values)].value(rng, comm.Rank(), i)); x-x == 0 {
			values[i] = x
		}
	}
	begin, err := startTogether(comm)
	switch {
	case err != nil:
	case root == reduce.AllRanks:
		err = reduce.AllreduceSlice(r, values, mpi.Sum)
	default:
		err = reduce.ReduceSlice(r, values, mpi.Sum, root)
	}
	*took = max(*took, comm.(mpi.Clock).Now()-begin)
	return err
}

// Warm sums do not allocate, even where some elements need more than one word.
func TestReproducibleSumsDoNotAllocate(t *testing.T) {
	reproducible(t, 3, func(c mpi.Communicator, r *reduce.Reducer) error {
		for _, k := range kinds()[:6] {
			rng := rand.New(rand.NewPCG(uint64(c.Rank()), 1))
			values := make([]float64, 1000)
			narrow := make([]float32, 1000)
			var failed error
			call := func() {
				for i := range values {
					values[i] = k.value(rng, c.Rank(), i)
					narrow[i] = float32(values[i])
				}
				for _, err := range []error{
					reduce.AllreduceSlice(r, values, mpi.Sum), reduce.AllreduceSlice(r, narrow, mpi.Sum), reduce.AllreduceSlice(r, values[:1], mpi.Sum),
					reduce.ReduceSlice(r, values, mpi.Sum, 1), reduce.AllreduceSlice(r, values, mpi.Max),
				} {
					if err != nil {
						failed = err
					}
				}
			}
			for range 20 {
				call()
			}
			if n := testing.AllocsPerRun(20, call); n != 0 || failed != nil {
				return fmt.Errorf("%s: %g allocations, %w", k.name, n, failed)
			}
		}
		return nil
	})
}

// BenchmarkReproducible reports the time of a reproducible Allreduce of normal numbers over that of an ordinary one, on simulated clusters:
// hosts of 4 ranks at 10 Gbit/s, and hosts of 2 ranks on links of 200 Mbit/s and uplinks of 100 Mbit/s. More than 1 MiB is reduced as 1 MiB
// is: to decide takes long.
func BenchmarkReproducible(b *testing.B) {
	for _, cluster := range []struct{ name, spec string }{
		{"10Gbps", "core:4 host:2 rack:2 latency=5us,5us,100ns rate=10Gbps,10Gbps,80Gbps"},
		{"200Mbps", "core:2 host:4 rack:2 latency=200us,100us,1us rate=100Mbps,200Mbps,10Gbps"},
	} {
		c, network := simulated(b, cluster.spec)
		for _, order := range []string{"block", "shuffled"} {
			for _, bytes := range []int{8, 64 << 10, 256 << 10, 1 << 20, 8 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%dB", cluster.name, order, bytes), func(b *testing.B) {
					placement := make([]int, c.Graph.Hosts())
					for i := range placement {
						placement[i] = i
					}
					if order == "shuffled" {
						placement = rand.New(rand.NewPCG(1, 0)).Perm(len(placement))
					}
					var took [2]float64
					for b.Loop() {
						err := simnet.Run(c.Graph, placement, c.Settings(), func(comm mpi.Communicator) error {
							tuned, err := reduce.New(comm, &reduce.Settings{Network: network})
							if err == nil {
								err = tuned.Tune(min(bytes, 1<<20))
							}
							if err != nil {
								return err
							}
							for i := range took {
								r, err := reduce.New(comm, &reduce.Settings{Network: network, Reproducible: i == 1})
								if err == nil {
									reduce.Adopt(r, tuned, min(bytes, 1<<20), bytes)
									err = r.Tune(bytes)
								}
								if err != nil {
									return err
								}
								rng := rand.New(rand.NewPCG(uint64(comm.Rank()), 1))
								values := make([]float64, bytes/8)
								for k := range values {
									values[k] = rng.NormFloat64()
								}
								if comm.Rank() == 0 {
									took[i] = 0
								}
								begin, err := startTogether(comm)
								if err != nil {
									return err
								}
								if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
									return err
								}
								took[i] = max(took[i], comm.(mpi.Clock).Now()-begin)
							}
							if comm.Rank() == 0 {
								name, segment, _ := tuned.Chosen(min(bytes, 1<<20), reduce.AllRanks)
								b.Logf("%s, segments of %d B", name, segment)
							}
							return nil
						})
						if err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(1e3*took[0], "ordinary-ms")
					b.ReportMetric(took[1]/took[0], "ratio")
				})
			}
		}
	}
}

// BenchmarkReproducibleArithmetic is what a rank computes for a reproducible sum of 1 MiB, besides adding integers.
func BenchmarkReproducibleArithmetic(b *testing.B) {
	b.Run("float64", arithmetic[float64, int64])
	b.Run("float32", arithmetic[float32, int32])
}

func arithmetic[F float32 | float64, W int32 | int64](b *testing.B) {
	const bytes = 1 << 20
	rng := rand.New(rand.NewPCG(1, 1))
	values := vectorsOf[F](kinds()[0], rng, 1, bytes/int(reduce.SizeOf[F]()))[0]
	result := make([]F, len(values))
	b.SetBytes(bytes)
	b.ReportAllocs()
	sum := reduce.SumAlone[F, W]()
	for b.Loop() {
		sum(values, result)
	}
}
