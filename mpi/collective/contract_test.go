package collective

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// What follows is what every rank does in the tests, in one process and on real MPI libraries: each collective
// against what a loop over all ranks and elements says.

// A pair is a value that is no number.
type pair struct {
	Weight float32
	Rank   int16
}

// value is element i of a rank, small enough for the sums of floats to be exact.
func value[T Number](rank, i int) T { return T((rank*31+i*7)%11 + 1) }

func values[T Number](rank, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = value[T](rank, i)
	}
	return s
}

// A draw is one problem, the same on all ranks.
type draw struct {
	limit   int
	n, root int
	counts  []int // values of each rank, where ranks have different numbers of them
	with    mpi.Reduction
}

func newDraw(r *rand.Rand, ranks int) draw {
	d := draw{
		limit: []int{1 << 30, 24}[r.IntN(2)], n: []int{0, 1, 2, 5, ranks, 40 + r.IntN(200)}[r.IntN(6)], root: r.IntN(ranks),
		with: mpi.Reduction(r.IntN(4)),
	}
	for range ranks {
		d.counts = append(d.counts, r.IntN(1+d.n))
	}
	return d
}

// exercise runs all collectives on so many random problems.
func exercise(comm mpi.Communicator, problems int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, uint64(comm.Size())))
	c := New(comm)
	for range problems {
		d := newDraw(r, comm.Size())
		c.limit = d.limit
		if err := d.run(c); err != nil {
			return fmt.Errorf("rank %d of %d, %+v: %w", comm.Rank(), comm.Size(), d, err)
		}
	}
	return nil
}

func (d *draw) run(c *Comm) error {
	return errors.Join(
		reductions[int64](c, d), reductions[uint8](c, d), reductions[float32](c, d), reductions[int](c, d), reductions[int16](c, d),
		rounding(c, d), functions(c, d), keepFirst(c), moves(c, d), Barrier(c))
}

// expected is the reduction of the values of all ranks.
func expected[T Number](ranks, n int, with mpi.Reduction) []T {
	all := values[T](0, n)
	for rank := 1; rank < ranks; rank++ {
		for i := range all {
			switch x := value[T](rank, i); with {
			case mpi.Sum:
				all[i] += x
			case mpi.Product:
				all[i] *= x
			case mpi.Min:
				all[i] = min(all[i], x)
			case mpi.Max:
				all[i] = max(all[i], x)
			}
		}
	}
	return all
}

func differ[T comparable](what string, got, want []T) error {
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s of %T = %v, want %v", what, got, got, want)
}

func reductions[T Number](c *Comm, d *draw) error {
	with := d.with
	if _, inexact := any(T(0)).(float32); inexact && with == mpi.Product {
		with = mpi.Max
	}
	want := expected[T](c.size, d.n, with)
	got := values[T](c.rank, d.n)
	if err := Allreduce(c, got, with); err != nil {
		return err
	}
	if err := differ("Allreduce", got, want); err != nil {
		return err
	}
	if c.rank != d.root {
		want = values[T](c.rank, d.n) // as they were
	}
	got = values[T](c.rank, d.n)
	if err := Reduce(c, got, with, d.root); err != nil {
		return err
	}
	return differ("Reduce", got, want)
}

// rounding holds sums that depend on their order to be the same on all ranks, and close to the right ones.
func rounding(c *Comm, d *draw) error {
	ranks := c.size
	sums := make([]float64, d.n)
	for i := range sums {
		sums[i] = 1 / float64(3+i+c.rank)
	}
	if err := Allreduce(c, sums, mpi.Sum); err != nil {
		return err
	}
	for i, got := range sums {
		want := 0.0
		for rank := range ranks {
			want += 1 / float64(3+i+rank)
		}
		if math.Abs(got-want) > 1e-14*want*float64(ranks) {
			return fmt.Errorf("sum %d = %v, want %v", i, got, want)
		}
	}
	all := make([]float64, d.n*ranks)
	if err := Allgather(c, all, sums); err != nil {
		return err
	}
	for rank := range ranks {
		if err := differ("Allgather", all[rank*d.n:(rank+1)*d.n], sums); err != nil {
			return fmt.Errorf("sums of rank %d: %w", rank, err)
		}
	}
	return nil
}

// functions reduces pairs: the rank of the greatest weight, and of these the lowest.
func functions(c *Comm, d *draw) error {
	greatest := func(into, from []pair) {
		for i, x := range from {
			if x.Weight > into[i].Weight || x.Weight == into[i].Weight && x.Rank < into[i].Rank {
				into[i] = x
			}
		}
	}
	own := func(rank int) []pair {
		s := make([]pair, d.n)
		for i := range s {
			s[i] = pair{value[float32](rank, i), int16(rank)}
		}
		return s
	}
	want := own(0)
	for rank := 1; rank < c.size; rank++ {
		greatest(want, own(rank))
	}
	got := own(c.rank)
	if err := AllreduceFunc(c, got, greatest); err != nil {
		return err
	}
	if err := differ("AllreduceFunc", got, want); err != nil {
		return err
	}
	if c.rank != d.root {
		want = own(c.rank)
	}
	got = own(c.rank)
	if err := ReduceFunc(c, got, greatest, d.root); err != nil {
		return err
	}
	return differ("ReduceFunc", got, want)
}

// keepFirst reduces by a function whose result depends on the order: it has to be one order on all ranks.
func keepFirst(c *Comm) error {
	first := func(into, from []pair) {}
	got := []pair{{Rank: int16(c.rank)}}
	if err := AllreduceFunc(c, got, first); err != nil {
		return err
	}
	return differ("AllreduceFunc of the first", got, []pair{{Rank: 0}})
}

// moves runs the collectives that move values.
func moves(c *Comm, d *draw) error {
	me, ranks := c.rank, c.size
	type number = int32
	var even, uneven []number // of all ranks
	for rank := range ranks {
		even = append(even, values[number](rank, d.n)...)
		uneven = append(uneven, values[number](rank, d.counts[rank])...)
	}
	begin := 0 // of this rank's part of uneven
	for _, n := range d.counts[:me] {
		begin += n
	}
	check := func(what string, err error, got, want []number) error {
		if err != nil {
			return err
		}
		return differ(what, got, want)
	}
	atRoot := func(s []number) []number {
		if me == d.root {
			return s
		}
		return nil
	}
	own, ownUneven := values[number](me, d.n), values[number](me, d.counts[me])

	dst := atRoot(make([]number, len(even)))
	if err := check("Gather", Gather(c, dst, own, d.root), dst, atRoot(even)); err != nil {
		return err
	}
	dst = atRoot(make([]number, len(uneven)))
	var counts []int
	if me == d.root {
		counts = d.counts
	}
	if err := check("Gatherv", Gatherv(c, dst, counts, ownUneven, d.root), dst, atRoot(uneven)); err != nil {
		return err
	}
	dst = make([]number, d.n)
	if err := check("Scatter", Scatter(c, dst, atRoot(even), d.root), dst, own); err != nil {
		return err
	}
	dst = make([]number, d.counts[me])
	if err := check("Scatterv", Scatterv(c, dst, atRoot(uneven), counts, d.root), dst, ownUneven); err != nil {
		return err
	}
	dst = make([]number, len(even))
	if err := check("Allgather", Allgather(c, dst, own), dst, even); err != nil {
		return err
	}
	dst = make([]number, len(even))
	copy(dst[me*d.n:], own)
	if err := check("Allgather in place", Allgather(c, dst, dst[me*d.n:(me+1)*d.n]), dst, even); err != nil {
		return err
	}
	dst = make([]number, len(uneven))
	if err := check("Allgatherv", Allgatherv(c, dst, d.counts, ownUneven), dst, uneven); err != nil {
		return err
	}
	dst = make([]number, len(uneven))
	copy(dst[begin:], ownUneven)
	if err := check("Allgatherv in place", Allgatherv(c, dst, d.counts, dst[begin:begin+d.counts[me]]), dst, uneven); err != nil {
		return err
	}

	// What rank i has for rank j: n values in Alltoall, some in Alltoallv.
	parcel := func(from, to, n int) []number { return values[number](100*from+to, n) }
	some := func(from, to int) int { return (d.counts[from] + 3*to) % (d.n + 1) }
	var src, want, srcUneven, wantUneven []number
	var in, out []int
	for rank := range ranks {
		src, want = append(src, parcel(me, rank, d.n)...), append(want, parcel(rank, me, d.n)...)
		out, in = append(out, some(me, rank)), append(in, some(rank, me))
		srcUneven, wantUneven = append(srcUneven, parcel(me, rank, out[rank])...), append(wantUneven, parcel(rank, me, in[rank])...)
	}
	dst = make([]number, len(want))
	if err := check("Alltoall", Alltoall(c, dst, src), dst, want); err != nil {
		return err
	}
	dst = make([]number, len(wantUneven))
	if err := check("Alltoallv", Alltoallv(c, dst, in, srcUneven, out), dst, wantUneven); err != nil {
		return err
	}

	// A ring both ways round, and a line.
	right, left := (me+1)%ranks, (me-1+ranks)%ranks
	dst = make([]number, d.counts[left])
	want = values[number](left, d.counts[left])
	if ranks == 1 {
		want = ownUneven
	}
	if err := check("Sendrecv", Sendrecv(c, dst, left, ownUneven, right, 5), dst, want); err != nil {
		return err
	}
	dst = make([]number, d.counts[right])
	if err := check("Sendrecv", Sendrecv(c, dst, right, ownUneven, left, 5), dst, values[number](right, d.counts[right])); err != nil {
		return err
	}
	if me == 0 {
		left = None
	}
	if right == 0 {
		right = None
	}
	dst, want = make([]number, d.n), own
	if left != None {
		want = values[number](left, d.n)
	} else {
		want = make([]number, d.n)
	}
	return check("Sendrecv", Sendrecv(c, dst, left, own, right, 5), dst, want)
}

// misuse expects an error on every rank for what is wrong, before anything is sent.
func misuse(comm mpi.Communicator) error {
	c, ranks, me := New(comm), comm.Size(), comm.Rank()
	var wrong []error
	expect := func(what string, err, class error) {
		if err == nil || class != nil && !errors.Is(err, class) || !bytes.HasPrefix([]byte(err.Error()), []byte("collective: ")) {
			wrong = append(wrong, fmt.Errorf("%s: error %v, want %v", what, err, class))
		}
	}
	one := []int64{1}
	for _, root := range []int{-1, ranks} {
		expect("Reduce", Reduce(c, one, mpi.Sum, root), mpi.ErrRank)
		expect("ReduceFunc", ReduceFunc(c, one, func(_, _ []int64) {}, root), mpi.ErrRank)
		expect("Gather", Gather(c, one, one, root), mpi.ErrRank)
		expect("Gatherv", Gatherv(c, one, nil, one, root), mpi.ErrRank)
		expect("Scatter", Scatter(c, one, one, root), mpi.ErrRank)
		expect("Scatterv", Scatterv(c, one, one, nil, root), mpi.ErrRank)
	}
	expect("Allreduce of no reduction", Allreduce(c, one, 99), nil)
	expect("Reduce of no reduction", Reduce(c, one, 99, 0), nil)
	expect("Allreduce of pointers", AllreduceFunc(c, []*int{nil}, func(_, _ []*int) {}), nil)
	expect("Allgather of strings", Allgather(c, make([]string, ranks), []string{""}), nil)
	expect("Allgather of structs with strings", Allgather(c, make([][2]struct{ s string }, ranks), make([][2]struct{ s string }, 1)), nil)
	expect("Gather into too little", Gather(c, nil, one, me), nil)
	expect("Scatter of too much", Scatter(c, one, make([]int64, ranks+1), me), nil)
	expect("Allgather into too much", Allgather(c, make([]int64, ranks+1), one), nil)
	expect("Alltoall into too little", Alltoall(c, nil, make([]int64, ranks)), nil)
	if ranks > 1 {
		expect("Alltoall of uneven parts", Alltoall(c, make([]int64, ranks+1), make([]int64, ranks+1)), nil)
	}
	counts := make([]int, ranks)
	counts[me] = -1
	expect("Allgatherv of less than nothing", Allgatherv(c, nil, counts, one), nil)
	counts[me] = 2
	expect("Allgatherv of another count", Allgatherv(c, make([]int64, 2), counts, one), nil)
	expect("Gatherv of another count", Gatherv(c, make([]int64, 2), counts, one, me), nil)
	expect("Scatterv without counts", Scatterv(c, one, one, nil, me), nil)
	expect("Alltoallv without counts", Alltoallv(c, one, nil, one, nil), nil)
	expect("Sendrecv from a wrong rank", Sendrecv(c, one, ranks, one, None, 1), mpi.ErrRank)
	expect("Sendrecv from itself to nobody", Sendrecv(c, one, me, one, None, 1), mpi.ErrRank)
	// Of these nothing may be under way, or it would take the messages of the Barrier below.
	tag := mpi.MaxTag - 1
	for _, dst := range []int{-2, ranks} {
		expect("Sendrecv to a wrong rank", Sendrecv(c, make([]int64, 1), (me+1)%ranks, one, dst, tag), mpi.ErrRank)
	}
	if ranks > 1 {
		expect("Sendrecv with a wrong tag", Sendrecv(c, make([]int64, 1), (me+1)%ranks, one, (me+1)%ranks, -1), mpi.ErrTag)
	}
	expect("ReduceFunc without a function", ReduceFunc(c, one, nil, 0), nil)
	expect("AllreduceFunc without a function", AllreduceFunc(c, one, nil), nil)
	// All is well afterwards.
	sum := []uint32{1}
	if err := Allreduce(c, sum, mpi.Sum); err != nil || int(sum[0]) != ranks {
		wrong = append(wrong, fmt.Errorf("after the misuse: %v, %v", sum, err))
	}
	if err := Barrier(c); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}
