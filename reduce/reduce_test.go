package reduce_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/reduce"
)

// onRanks runs work on the ranks of this process and on simulated ones.
func onRanks(t *testing.T, ranks int, work func(mpi.Communicator) error) {
	t.Helper()
	if err := local.Run(ranks, nil, work); err != nil {
		t.Errorf("%d local ranks: %v", ranks, err)
	}
	if testing.Short() {
		return // simulated ranks take turns: the race detector has nothing to find
	}
	c, err := gen.Parse(fmt.Sprintf("star:%d", ranks))
	if err != nil {
		t.Fatal(err)
	}
	if err := simnet.Run(c.Graph, nil, nil, work); err != nil {
		t.Errorf("%d simulated ranks: %v", ranks, err)
	}
}

// reductions performs all reductions of numbers whose results are exact, and compares them with the sums of one loop.
func reductions(r *reduce.Reducer, c mpi.Communicator, length int) error {
	n := c.Size()
	value := func(rank, i int) int32 { return int32((rank*31+i*7)%11 - 5) }
	want := func(i int, with mpi.Reduction) int32 {
		x := value(0, i)
		for rank := 1; rank < n; rank++ {
			switch y := value(rank, i); with {
			case mpi.Sum:
				x += y
			case mpi.Product:
				x *= y
			case mpi.Min:
				x = min(x, y)
			case mpi.Max:
				x = max(x, y)
			}
		}
		return x
	}
	for _, with := range []mpi.Reduction{mpi.Sum, mpi.Product, mpi.Min, mpi.Max} {
		for _, root := range []int{reduce.AllRanks, 0, n - 1} {
			values := make([]int32, length)
			for i := range values {
				values[i] = value(c.Rank(), i)
			}
			own := slices.Clone(values)
			var err error
			if root == reduce.AllRanks {
				err = reduce.AllreduceSlice(r, values, with)
			} else {
				err = reduce.ReduceSlice(r, values, with, root)
			}
			if err != nil {
				return err
			}
			for i, x := range values {
				expected := own[i]
				if root == reduce.AllRanks || root == c.Rank() {
					expected = want(i, with)
				}
				if x != expected {
					return fmt.Errorf("rank %d of %d, reduction %d to %d, %d values: value %d is %d, want %d", c.Rank(), n, with, root, length, i, x, expected)
				}
			}
		}
	}
	return nil
}

func TestReductions(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5, 8} {
		onRanks(t, ranks, func(c mpi.Communicator) error {
			r, err := reduce.New(c, &reduce.Settings{Budget: 20 * time.Millisecond, Network: casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2))})
			if err != nil {
				return err
			}
			for _, length := range []int{0, 1, 2, 100, 3000} {
				if err := reductions(r, c, length); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// With ModelOnly nothing is timed, on any rank: reductions follow a plan of ours, and no decision is kept, even where the incumbent has
// won before. Apart changes no result.
func TestModelOnly(t *testing.T) {
	const ranks = 5
	onRanks(t, ranks, func(c mpi.Communicator) error {
		s := &reduce.Settings{Network: casttest.NetworkOf(t, casttest.RegularTree(t, ranks))}
		r, err := reduce.New(c, s)
		if err == nil {
			err = r.Tune(4)
		}
		if err != nil {
			return err
		}
		tuned, err := r.Table(time.Time{})
		if tuned != nil { // rank 0
			s.ModelOnly, s.Apart = true, true
			s.Network, err = tuned.Keep(s.Network)
		}
		if err != nil {
			return err
		}
		r, err = reduce.New(c, s)
		if err != nil {
			return err
		}
		for _, length := range []int{1, 3000} {
			if err := reductions(r, c, length); err != nil {
				return err
			}
			for _, root := range []int{reduce.AllRanks, 0, ranks - 1} {
				if name, _, decided := r.Chosen(4*length, root); name == "" || !decided {
					return fmt.Errorf("%d values to %d: algorithm %q, decided %t, want one of ours", length, root, name, decided)
				}
			}
		}
		tuned, err = r.Table(time.Time{})
		if len(tuned.Tunings()) > 0 {
			return fmt.Errorf("%d tunings are kept, want none", len(tuned.Tunings()))
		}
		return err
	})
}

// Callers of MPI's functions have a vector of their own for the result. With Apart, plans of ours are timed with the copies that they then
// make; the incumbent makes none there. Without it plans are timed as AllreduceSlice performs them.
func TestApartTimesCopies(t *testing.T) {
	const length = 100
	for _, apart := range []bool{false, true} {
		if err := local.Run(3, nil, func(c mpi.Communicator) error {
			r, err := reduce.New(c, &reduce.Settings{Apart: apart})
			if err == nil {
				err = r.Tune(8 * length)
			}
			if err != nil {
				return err
			}
			want := 0
			if apart {
				want = length
			}
			if got := reduce.CopiesWhenTimed(r); got != want {
				return fmt.Errorf("apart %t, rank %d: %d values are copied, want %d", apart, c.Rank(), got, want)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// Functions of the caller: 2x2 matrices of whole numbers, of which the sum is exact, and complex numbers.
func TestFunctions(t *testing.T) {
	const ranks = 5
	onRanks(t, ranks, func(c mpi.Communicator) error {
		r, err := reduce.New(c, &reduce.Settings{Budget: 10 * time.Millisecond})
		if err != nil {
			return err
		}
		product := func(into, from []complex128) {
			for i := range from {
				into[i] *= from[i]
			}
		}
		for _, root := range []int{reduce.AllRanks, 3} {
			values := []complex128{complex(0, float64(c.Rank()+1)), 2}
			if root == reduce.AllRanks {
				err = reduce.AllreduceFunc(r, values, product)
			} else {
				err = reduce.ReduceFunc(r, values, product, root)
			}
			// (1i)(2i)(3i)(4i)(5i) = 120 i^5 = 120i, and 2^5.
			if want := []complex128{120i, 32}; err == nil && (root == reduce.AllRanks || root == c.Rank()) && !slices.Equal(values, want) {
				err = fmt.Errorf("root %d: %v, want %v", root, values, want)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// All ranks get the same bits from a sum that rounds, whichever algorithm is chosen: sizes from one value to many, over the
// levels of a cluster.
func TestAllRanksGetTheSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("tree:2x3x2 latency=20us,5us,1us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	results := map[int][][]float64{}
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		r, err := reduce.New(comm, &reduce.Settings{Network: casttest.NetworkOf(t, c.Hierarchy)})
		if err != nil {
			return err
		}
		for _, length := range []int{1, 100, 5000} {
			rng := rand.New(rand.NewPCG(uint64(comm.Rank()), uint64(length)))
			values := make([]float64, length)
			for i := range values {
				values[i] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)))
			}
			if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
				return err
			}
			results[length] = append(results[length], values)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for length, all := range results {
		for _, values := range all {
			if !slices.Equal(values, all[0]) {
				t.Errorf("%d values: ranks have different sums", length)
			}
		}
	}
}

// counting counts the messages of a communicator between two halves of its ranks.
type counting struct {
	mpi.Communicator
	mpi.Clock
	crossed *int
	rack    func(rank int) int
}

type countingSet struct {
	mpi.Requests
	c counting
}

func (c counting) NewRequests() mpi.Requests {
	return countingSet{c.Communicator.(mpi.NonBlocking).NewRequests(), c}
}

func (s countingSet) Isend(buf []byte, dst, tag int) error {
	if s.c.rack(s.c.Rank()) != s.c.rack(dst) {
		*s.c.crossed += len(buf)
	}
	return s.Requests.Isend(buf, dst, tag)
}

// Between two racks of eight hosts, over which the ranks are shuffled and whose uplinks carry a quarter of what a host sends, a long vector crosses once each way. The simple
// algorithm, recursive doubling, lets it cross eight times each way.
func TestAllreduceFollowsTheWiring(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("tree:2x8 latency=20us,5us rate=250Mbps,1Gbps shuffle seed=1")
	if err != nil {
		t.Fatal(err)
	}
	bytes := 128 << 10
	if tooltest.Long() {
		bytes = 1 << 20
	}
	crossed, chosen := 0, ""
	var took, simple float64
	err = simnet.Run(c.Graph, nil, nil, func(world mpi.Communicator) error {
		comm := counting{world, world.(mpi.Clock), &crossed, c.Hierarchy.Smallest}
		r, err := reduce.New(comm, &reduce.Settings{Network: casttest.NetworkOf(t, c.Hierarchy)})
		if err != nil {
			return err
		}
		if err := r.Tune(bytes); err != nil {
			return err
		}
		values, plain := make([]float64, bytes/8), collective.New(world)
		if err := collective.Barrier(plain); err != nil {
			return err
		}
		if world.Rank() == 0 {
			crossed = 0
		}
		began := comm.Now()
		if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
			return err
		}
		middle := comm.Now()
		if world.Rank() == 0 {
			chosen, _, _ = r.Chosen(bytes, reduce.AllRanks)
		}
		if err := collective.Barrier(plain); err != nil {
			return err
		}
		again := comm.Now()
		err = collective.Allreduce(plain, values, mpi.Sum)
		took, simple = max(took, middle-began), max(simple, comm.Now()-again)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if chosen == "" || crossed != 2*bytes || took > simple/2 {
		t.Errorf("%q: %d bytes cross between the racks, want %d; %g s, simple algorithm %g s", chosen, crossed, 2*bytes, took, simple)
	}
}

// Ranks that disagree in a first reduction get one error, all of them.
func TestDisagreement(t *testing.T) {
	for name, call := range map[string]func(*reduce.Reducer, int) error{
		"length in bytes": func(r *reduce.Reducer, rank int) error {
			return reduce.AllreduceSlice(r, make([]float64, 5+rank/2), mpi.Sum)
		},
		"root": func(r *reduce.Reducer, rank int) error {
			return reduce.ReduceSlice(r, make([]float64, 5), mpi.Sum, rank/2)
		},
		"reduction": func(r *reduce.Reducer, rank int) error {
			return reduce.AllreduceSlice(r, make([]float64, 5), mpi.Reduction(rank/2))
		},
		"length in bytes: ": func(r *reduce.Reducer, rank int) error {
			return reduce.AllreduceSlice(r, make([]float64, rank/2), mpi.Sum)
		},
		"reduction: ": func(r *reduce.Reducer, rank int) error { // of a class that is decided
			err := reduce.AllreduceSlice(r, make([]float64, 5), mpi.Sum)
			return cmp.Or(err, reduce.AllreduceSlice(r, make([]float64, 5), mpi.Reduction(1+rank/2)))
		},
		"type of elements": func(r *reduce.Reducer, rank int) error {
			if rank == 0 {
				return reduce.AllreduceSlice(r, make([]int64, 5), mpi.Sum)
			}
			return reduce.AllreduceSlice(r, make([]float64, 5), mpi.Sum)
		},
		"type of elements: this rank says ": func(r *reduce.Reducer, rank int) error {
			if rank == 0 {
				return reduce.AllreduceFunc(r, make([]complex64, 5), func(into, from []complex64) {})
			}
			return reduce.AllreduceFunc(r, make([]float64, 5), func(into, from []float64) {})
		},
		"arguments of a call before": func(r *reduce.Reducer, rank int) error {
			agree := cmp.Or(reduce.AllreduceSlice[int32](r, nil, mpi.Min), reduce.AllreduceSlice[int32](r, nil, mpi.Max))
			return cmp.Or(agree, reduce.AllreduceSlice[int32](r, nil, mpi.Min+mpi.Reduction(rank/2)), reduce.AllreduceSlice(r, make([]int32, 5), mpi.Min))
		},
		"number of sizes": func(r *reduce.Reducer, rank int) error { return r.Tune(make([]int, rank)...) },
		"sizes in bytes":  func(r *reduce.Reducer, rank int) error { return r.Tune(8 * rank) },
		"number of sizes: ": func(r *reduce.Reducer, rank int) error { // one rank has nothing to tune
			if rank == 0 {
				return r.Tune()
			}
			return r.Tune(8)
		},
		"sizes in bytes: this rank says": func(r *reduce.Reducer, rank int) error { return r.Tune(8 - 9*(rank/2)) },
		"roots: this rank says":          func(r *reduce.Reducer, rank int) error { return r.TuneRoot(9*(rank/2), 8) },
		"roots":                          func(r *reduce.Reducer, rank int) error { return r.TuneRoot(rank/2, 8) },
	} {
		told := make([]error, 3)
		if err := local.Run(3, nil, func(c mpi.Communicator) error {
			r, err := reduce.New(c, nil)
			if err == nil {
				told[c.Rank()] = call(r, c.Rank())
				err = reductions(r, c, 10) // the ranks go on together
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for rank, err := range told {
			if err == nil || !strings.Contains(err.Error(), "disagree about the "+name) {
				t.Errorf("%s: rank %d: %v", name, rank, err)
			}
		}
	}
}

// A call that one rank refuses is an error on all ranks in the first reduction of a class of sizes, and the ranks go on together.
func TestARefusedReductionIsTold(t *testing.T) {
	for wrong := range 3 {
		if err := local.Run(3, nil, func(c mpi.Communicator) error { return refusals(c, wrong) }); err != nil {
			t.Errorf("rank %d: %v", wrong, err)
		}
		cluster, err := simnet.ParseCluster("star:3")
		if err == nil {
			err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error { return refusals(c, wrong) })
		}
		if err != nil {
			t.Errorf("simulated, rank %d: %v", wrong, err)
		}
	}
}

// refusals lets one rank make wrong calls, in classes that are not decided.
func refusals(c mpi.Communicator, wrong int) error {
	r, err := reduce.New(c, &reduce.Settings{Budget: time.Millisecond})
	if err != nil {
		return err
	}
	isWrong := c.Rank() == wrong
	add := func(into, from []int32) {}
	for i, x := range []struct {
		call         func(values []int32) error
		own, ofOther string // errors
	}{
		{func(values []int32) error {
			if isWrong {
				return reduce.ReduceSlice(r, values, mpi.Sum, 99)
			}
			return reduce.ReduceSlice(r, values, mpi.Sum, 0)
		}, "root 99", "disagree about the root"},
		{func(values []int32) error {
			if isWrong {
				return reduce.ReduceSlice(r, values, mpi.Sum, reduce.AllRanks)
			}
			return reduce.AllreduceSlice(r, values, mpi.Sum)
		}, "root -1", "disagree about the arguments: this rank says right"},
		{func(values []int32) error {
			if isWrong {
				return reduce.AllreduceSlice(r, values, 99)
			}
			return reduce.AllreduceSlice(r, values, mpi.Max)
		}, "reduction 99", "the ranks say mpi.Max to mpi.Reduction(99)"},
		{func(values []int32) error {
			if isWrong {
				return reduce.AllreduceFunc[int32](r, values, nil)
			}
			return reduce.AllreduceFunc(r, values, add)
		}, "function", "disagree about the arguments"},
	} {
		want := x.ofOther
		if isWrong {
			want = x.own
		}
		for range 2 { // the application goes on as if nothing had been
			if err := x.call(make([]int32, 1<<i)); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("call %d = %w, want %q", i, err, want)
			}
		}
		if err := reductions(r, c, 1<<i); err != nil {
			return err
		}
	}
	return nil
}

func TestMisuse(t *testing.T) {
	if err := local.Run(2, nil, func(c mpi.Communicator) error {
		if _, err := reduce.New(c, &reduce.Settings{Tag: -1}); !errors.Is(err, mpi.ErrTag) || !strings.Contains(err.Error(), "tag -1") {
			return fmt.Errorf("tag -1: %w", err)
		}
		if _, err := reduce.New(c, &reduce.Settings{Budget: -1}); err == nil || !strings.Contains(err.Error(), "budget") {
			return fmt.Errorf("budget -1: %w", err)
		}
		r, err := reduce.New(c, nil)
		if err != nil {
			return err
		}
		if err := reduce.ReduceSlice(r, []int{1}, mpi.Sum, 2); !errors.Is(err, mpi.ErrRank) {
			return fmt.Errorf("root 2: %w", err)
		}
		if err := reduce.AllreduceSlice(r, []int{1}, 99); err == nil || !strings.Contains(err.Error(), "reduction 99") {
			return fmt.Errorf("reduction 99: %w", err)
		}
		if err := reduce.AllreduceFunc(r, []int{1}, nil); err == nil {
			return fmt.Errorf("no function: no error")
		}
		if err := r.Tune(-1); err == nil {
			return fmt.Errorf("size -1: no error")
		}
		return reductions(r, c, 10) // nothing of it was sent
	}); err != nil {
		t.Error(err)
	}
}

// Warm reductions do not allocate.
func TestReductionsDoNotAllocate(t *testing.T) {
	if err := local.Run(2, nil, func(c mpi.Communicator) error {
		r, err := reduce.New(c, &reduce.Settings{Budget: time.Millisecond})
		if err != nil {
			return err
		}
		for _, length := range []int{1, 1000} {
			values := make([]float64, length)
			call := func() {
				if e := errors.Join(reduce.AllreduceSlice(r, values, mpi.Sum), reduce.ReduceSlice(r, values, mpi.Max, 1)); e != nil {
					err = e
				}
			}
			call()
			if n := testing.AllocsPerRun(20, call); n != 0 {
				return fmt.Errorf("%d values: %g allocations", length, n)
			}
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// blocking has no requests: the incumbent serves it.
type blocking struct{ mpi.Communicator }

func TestBlockingCommunicator(t *testing.T) {
	if err := local.Run(3, nil, func(c mpi.Communicator) error {
		r, err := reduce.New(blocking{c}, nil)
		if err != nil {
			return err
		}
		return reductions(r, c, 100)
	}); err != nil {
		t.Error(err)
	}
}

// What one job has tuned the next one of the same ranks starts with, and confirms; a job of other ranks does not.
func TestTunedReductionsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("tree:2x4 latency=20us,5us rate=250Mbps,1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 64 << 10
	network := casttest.NetworkOf(t, c.Hierarchy)
	chosen := make([]string, 3)
	for run, ranks := range []int{8, 8, 7} {
		err = simnet.Run(c.Graph, []int{0, 1, 2, 3, 4, 5, 6, 7}[:ranks], nil, func(comm mpi.Communicator) error {
			known := network
			if ranks == 7 {
				known = casttest.NetworkOf(t, casttest.RegularTree(t, ranks))
				stored, err := table.Of(network)
				if err == nil {
					known, err = stored.Keep(known)
				}
				if err != nil {
					return err
				}
			}
			r, err := reduce.New(comm, &reduce.Settings{Network: known})
			if err != nil {
				return err
			}
			if comm.Rank() == 0 {
				chosen[run], _, _ = r.Chosen(bytes, reduce.AllRanks)
			}
			if err := r.Tune(bytes); err != nil {
				return err
			}
			if err := r.TuneRoot(3, bytes); err != nil {
				return err
			}
			tuned, err := r.Table(time.Time{})
			if err == nil && tuned != nil && run == 0 {
				if name, _, _ := r.Chosen(bytes, reduce.AllRanks); name == "" {
					return fmt.Errorf("nothing beats recursive doubling")
				}
				network, err = tuned.Keep(network)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if chosen[0] != "" || chosen[1] == "" || chosen[2] != "" {
		t.Errorf("the jobs start with %q, want a plan in the second one alone", chosen)
	}
	stored, err := table.Of(network)
	if err != nil {
		t.Fatal(err)
	}
	var collectives []string
	for _, x := range stored.Tunings() {
		collectives = append(collectives, x.Collective)
	}
	if !slices.Equal(collectives, []string{table.Allreduce, table.Reduce}) {
		t.Errorf("the table has %q", collectives)
	}
}

// A stored plan that is slow now does not displace the incumbent, and nor does what is no faster: two ranks can do nothing better for
// short vectors than exchange them, as the incumbent does, and the table says that a chain is faster.
func TestStoredReductionsAreConfirmed(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("star:2")
	if err != nil {
		t.Fatal(err)
	}
	at := make([]model.Location, 2)
	network := casttest.NetworkOf(t, c.Hierarchy)
	after := ""
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		places, err := mpi.Places(comm)
		if err != nil {
			return err
		}
		for i, p := range places {
			at[i] = model.Location{Host: p.Host, Core: p.Core}
		}
		library := ""
		if v, ok := comm.(mpi.Versioned); ok {
			library = v.LibraryVersion()
		}
		job := table.JobOf(at, library, os.Environ())
		job.Collective = table.Allreduce
		stored, err := new(table.Table).With(table.Tuning{Job: job, Cells: []table.Cell{{Bytes: 8, Choice: table.Choice{Algorithm: "chain", Measured: 1e-6, Native: 1, Pairs: 7}}}})
		if err != nil {
			return err
		}
		known, err := stored.Keep(network)
		if err != nil {
			return err
		}
		r, err := reduce.New(comm, &reduce.Settings{Network: known})
		if err != nil {
			return err
		}
		if before, _, _ := r.Chosen(8, reduce.AllRanks); before != "chain" {
			return fmt.Errorf("starts with %q", before)
		}
		values := []float64{1}
		if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
			return err
		}
		if comm.Rank() == 0 {
			after, _, _ = r.Chosen(8, reduce.AllRanks)
		}
		return nil
	})
	if err != nil || after != "" {
		t.Errorf("after the first Allreduce: %q, %v", after, err)
	}
}

// The budget bounds all that Tune does. What there is no time for stays with the incumbent, and is not in the table.
func TestTuneKeepsItsBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("tree:2x4 latency=20us,5us rate=250Mbps,1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{64 << 10, 256 << 10}
	for _, x := range []struct {
		budget  time.Duration
		decided int
	}{{time.Microsecond, 0}, {time.Second, 1}, {time.Minute, 2}} {
		err := simnet.Run(c.Graph, nil, nil, func(world mpi.Communicator) error {
			r, err := reduce.New(world, &reduce.Settings{Network: casttest.NetworkOf(t, c.Hierarchy), Budget: x.budget})
			if err != nil {
				return err
			}
			began := world.(mpi.Clock).Now()
			if err := r.Tune(sizes...); err != nil {
				return err
			}
			if took := world.(mpi.Clock).Now() - began; took > x.budget.Seconds()+0.02 { // the first round of each begins in any case
				return fmt.Errorf("it took %g s", took)
			}
			decided := 0
			for _, size := range sizes {
				name, _, isDecided := r.Chosen(size, reduce.AllRanks)
				if isDecided {
					decided++
				} else if name != "" {
					return fmt.Errorf("%d bytes: %s without a decision", size, name)
				}
			}
			if decided != x.decided {
				return fmt.Errorf("%d sizes decided, want %d", decided, x.decided)
			}
			tuned, err := r.Table(time.Time{})
			if err == nil && tuned != nil {
				cells := 0
				for _, tuning := range tuned.Tunings() {
					cells += len(tuning.Cells)
				}
				if cells != decided {
					return fmt.Errorf("%d cells in the table, want %d", cells, decided)
				}
			}
			return err
		})
		if err != nil {
			t.Errorf("budget %v: %v", x.budget, err)
		}
	}
}

// Segments that no prediction proposes are tried, where messages cost more or less than the network says.
func TestSegmentsAreRefined(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("star:6 latency=20us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 1 << 20
	for _, overhead := range []float64{300e-6, 1e-7} {
		o := simnet.Overhead{Seconds: overhead}
		err = simnet.Run(c.Graph, nil, &simnet.Settings{Send: o, Recv: o}, func(world mpi.Communicator) error {
			r, err := reduce.New(world, &reduce.Settings{Network: casttest.NetworkOf(t, c.Hierarchy)})
			if err != nil {
				return err
			}
			if err := r.TuneRoot(0, bytes); err != nil || world.Rank() > 0 {
				return err
			}
			name, segment, _ := r.Chosen(bytes, 0)
			if proposed := reduce.Shortlist(r, bytes, 0, name); proposed == nil || slices.Contains(proposed, segment) {
				return fmt.Errorf("overhead of %g s: %s in segments of %d B, want none of %d", overhead, name, segment, proposed)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
