package ongompi_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/mpi/ongompi"
)

// A fake has the methods of gompi's communicator and its manners: it panics on an empty slice, and a
// message longer than the buffer is fatal, as are broadcasts on which ranks do not agree. Numbers
// have to be where the processor wants them. (examples/gompi holds the package to the contract over
// gompi itself.)
type fake struct {
	job   *fakeJob
	id    string // of the communicator
	rank  int
	ranks []int // of the job
}

type status struct{ bytes int }

// A fakeJob is what the ranks of a job share.
type fakeJob struct {
	size int
	lock sync.Mutex
	box  map[mail]chan []byte
}

// mail tells the messages of a communicator apart; those of broadcasts have the tag -1.
type mail struct {
	id            string
	src, dst, tag int
}

func (f *fake) Rank() int { return f.rank }
func (f *fake) Size() int { return len(f.ranks) }
func (f *fake) Abort(int) { panic("aborted") }

func (f *fake) channel(src, dst, tag int) chan []byte {
	f.job.lock.Lock()
	defer f.job.lock.Unlock()
	key := mail{f.id, src, dst, tag}
	if f.job.box[key] == nil {
		f.job.box[key] = make(chan []byte, 64)
	}
	return f.job.box[key]
}

func (f *fake) SendBytes(vals []byte, toID, tag int) {
	_ = vals[0]
	f.channel(f.rank, toID, tag) <- slices.Clone(vals)
}

func (f *fake) RecvPreallocBytes(vals []byte, fromID, tag int) status {
	_ = vals[0]
	message := <-f.channel(fromID, f.rank, tag)
	if len(message) > len(vals) {
		panic(fmt.Sprintf("message of %d bytes for a buffer of %d", len(message), len(vals)))
	}
	return status{copy(vals, message)}
}

func (f *fake) BcastInt32s(x []int32, root int) {
	if address := uintptr(unsafe.Pointer(&x[0])); address%4 != 0 {
		panic(fmt.Sprintf("address %#x of 32-bit numbers", address))
	}
	if f.rank != root {
		in := make([]byte, 4*len(x))
		if s := f.RecvPreallocBytes(in, root, -1); s.bytes != len(in) {
			panic(fmt.Sprintf("broadcast of %d bytes for a buffer of %d", s.bytes, len(in)))
		}
		for i := range x {
			x[i] = int32(in[4*i]) | int32(in[4*i+1])<<8 | int32(in[4*i+2])<<16 | int32(in[4*i+3])<<24
		}
		return
	}
	var out []byte
	for _, v := range x {
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	for dst := range f.ranks {
		if dst != root {
			f.SendBytes(out, dst, -1)
		}
	}
}

// A maker is gompi.NewCommunicator as one rank of a job has it.
type maker struct {
	job  *fakeJob
	rank int
	made int // communicators
}

func (m *maker) newCommunicator(ranks []int) *fake {
	if ranks == nil {
		ranks = make([]int, m.job.size)
		for rank := range ranks {
			ranks[rank] = rank
		}
		return &fake{m.job, "world", m.rank, ranks}
	}
	m.made++
	return &fake{m.job, fmt.Sprint(m.made, ranks), slices.Index(ranks, m.rank), slices.Clone(ranks)}
}

// run runs body on n ranks, which have to make as many communicators as each other.
func run(t *testing.T, n int, body func(m *maker) error) {
	t.Helper()
	job := &fakeJob{size: n, box: map[mail]chan []byte{}}
	errs, made := make([]error, n), make([]int, n)
	var wait sync.WaitGroup
	for rank := range n {
		wait.Go(func() {
			m := &maker{job: job, rank: rank}
			errs[rank] = body(m)
			made[rank] = m.made
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
	if slices.Min(made) != slices.Max(made) {
		t.Errorf("%d ranks have made %d communicators, but gompi makes them on all ranks", n, made)
	}
}

func TestContract(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		run(t, n, func(m *maker) error { return mpitest.Check(ongompi.World(m.newCommunicator)) })
	}
	run(t, 3, func(m *maker) error { return mpitest.Check(ongompi.Wrap(m.newCommunicator(nil))) })
}

// Nothing but the buffer is written, whatever its length and its address on each
// rank.
func TestBcastOfAnyLengthAtAnyAddress(t *testing.T) {
	lengths := []int{0, 1, 2, 3, 4, 5, 7, 8, 4093, 4096, 4097, 4100, 9001, 9003, 9004}
	run(t, 3, func(m *maker) error {
		c := ongompi.Wrap(m.newCommunicator(nil))
		random := rand.New(rand.NewPCG(1, uint64(m.rank))) // addresses differ between ranks
		for round := range 4 {
			for _, n := range lengths {
				root := (n + round) % 3
				offset := 8 + random.IntN(8)
				memory := bytes.Repeat([]byte{0xAA}, offset+n+16)
				buf := memory[offset : offset+n]
				want := make([]byte, n)
				for i := range want {
					want[i] = byte(3*i + n + round)
				}
				if m.rank == root {
					copy(buf, want)
				}
				if err := c.Bcast(buf, root); err != nil {
					return err
				}
				want = slices.Concat(bytes.Repeat([]byte{0xAA}, offset), want, bytes.Repeat([]byte{0xAA}, 16))
				if !bytes.Equal(memory, want) {
					return fmt.Errorf("%d bytes at offset %d from rank %d: memory of rank %d is not as it was, with the message in it", n, offset, root, m.rank)
				}
			}
		}
		return nil
	})
}

func TestBcastAllocatesNothingOnceWarm(t *testing.T) {
	run(t, 1, func(m *maker) error {
		c := ongompi.Wrap(silent{m.newCommunicator(nil)})
		memory := make([]byte, 20_000)
		for _, buf := range [][]byte{memory[:8192], memory[:8191], memory[1:8193]} {
			got := testing.AllocsPerRun(20, func() {
				if err := c.Bcast(buf, 0); err != nil {
					t.Error(err)
				}
			})
			if got != 0 {
				t.Errorf("Bcast of %d bytes allocates %g times", len(buf), got)
			}
		}
		return nil
	})
}

// A silent fake broadcasts nothing, without allocating.
type silent struct{ *fake }

func (silent) BcastInt32s(x []int32, _ int) { _ = x[0] }

// gompi frees no communicator, and libraries have room for some 2,000.
func TestClosedCommunicatorsAreUsedAgain(t *testing.T) {
	run(t, 5, func(m *maker) error {
		world := ongompi.World(m.newCommunicator)
		for round := range 20 {
			dup, err := world.Dup()
			if err != nil {
				return err
			}
			part, err := world.Split(m.rank%2, -m.rank)
			if err != nil {
				return err
			}
			// Another division, in which some groups are as before.
			other, err := world.Split(min(m.rank, 3)-1, 0)
			if err != nil {
				return err
			}
			for _, c := range []mpi.Communicator{dup, part, other} {
				if c == nil {
					continue // rank 0 is in no group of the last
				}
				if err := swap(c, byte(round)); err != nil {
					return err
				}
				if err := c.(interface{ Close() error }).Close(); err != nil {
					return err
				}
				if err := c.Send(nil, (c.Rank()+1)%c.Size(), 0); c.Size() > 1 && !errors.Is(err, mpi.ErrClosed) {
					return fmt.Errorf("Send after Close = %v, want %v", err, mpi.ErrClosed)
				}
			}
		}
		if m.made != 4 { // the world's own, and one of each kind
			return fmt.Errorf("%d communicators made in 20 equal rounds, want 4", m.made)
		}
		return nil
	})
}

// swap lets each rank hear from the one before.
func swap(c mpi.Communicator, round byte) error {
	n := c.Size()
	if n == 1 {
		return nil
	}
	if err := c.Send([]byte{round, byte(c.Rank())}, (c.Rank()+1)%n, 1); err != nil { // the fake buffers
		return err
	}
	in := make([]byte, 2)
	before := (c.Rank() + n - 1) % n
	if err := c.Recv(in, before, 1); err != nil {
		return err
	}
	if in[0] != round || int(in[1]) != before {
		return fmt.Errorf("rank %d got %d in round %d, want the message of rank %d", c.Rank(), in, round, before)
	}
	return nil
}

// A communicator that is still open is not given away; an idle one waits while
// some group of a division has none.
func TestOpenCommunicatorsAreNotShared(t *testing.T) {
	run(t, 4, func(m *maker) error {
		world := ongompi.World(m.newCommunicator)
		first, err := world.Split(m.rank/2, 0)
		if err != nil {
			return err
		}
		if m.rank < 2 {
			if err := first.(*ongompi.Comm).Close(); err != nil {
				return err
			}
		}
		second, err := world.Split(m.rank/2, 0)
		if err != nil {
			return err
		}
		if m.made != 3 {
			return fmt.Errorf("%d communicators made, want 3: ranks 2 and 3 have the first still open", m.made)
		}
		if m.rank == 2 {
			return errors.Join(first.Send([]byte{1}, 1, 0), second.Send([]byte{2}, 1, 0))
		}
		if m.rank == 3 {
			one, two := []byte{0}, []byte{0}
			if err := errors.Join(second.Recv(two, 0, 0), first.Recv(one, 0, 0)); err != nil {
				return err
			}
			if one[0] != 1 || two[0] != 2 {
				return fmt.Errorf("the first communicator has carried %d and the second %d, want 1 and 2", one[0], two[0])
			}
		}
		return nil
	})
}

// Ranks close in different orders, and at different times: messages meet all the same.
func TestRanksCloseInAnyOrder(t *testing.T) {
	run(t, 2, func(m *maker) error {
		world := ongompi.World(m.newCommunicator)
		for round := range 4 {
			first, err := world.Dup()
			if err != nil {
				return err
			}
			second, err := world.Dup()
			if err != nil {
				return err
			}
			order := []mpi.Communicator{first, second}
			if m.rank == 1 {
				slices.Reverse(order)
			}
			late := order[1].(interface{ Close() error })
			if err := order[0].(interface{ Close() error }).Close(); err != nil {
				return err
			}
			if round%2 == 0 { // else it is closed when the next one has been made
				err = late.Close()
			}
			next, failed := world.Dup()
			if err = cmp.Or(err, failed, swap(next, byte(round))); err != nil {
				return err
			}
			if err = cmp.Or(late.Close(), next.(interface{ Close() error }).Close()); err != nil {
				return err
			}
		}
		return nil
	})
}
