//go:build linux

package labtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A castJob says which broadcasts a job times. Every rank reads it from a file.
type castJob struct {
	Network string `json:"network"` // file of the network that rank 0 gives to bcast.New
	Roots   []int  `json:"roots"`
	Sizes   []int  `json:"sizes"` // bytes

	Allreduce bool `json:"allreduce"` // of vectors of the sizes, instead of broadcasts; Roots are not read

	// A cell, a root and a size, is over after so many rounds, or when its time in
	// seconds is and there were leastRounds.
	Rounds int     `json:"rounds"`
	Budget float64 `json:"budget_s"`

	ModelOnly  bool `json:"model_only"`  // ours is what the network predicts to be best
	NativeOnly bool `json:"native_only"` // ours is left away
}

// leastRounds are the fewest that give the median an interval of 95 %.
const leastRounds = 6

// A castRow is what a job has measured of one cell.
type castRow struct {
	Root   int       `json:"root"`
	Bytes  int       `json:"bytes"`
	Ours   []float64 `json:"ours_s"`   // of each round
	Native []float64 `json:"native_s"` // of the same rounds: the library's default, or what it was forced to
	Plan   string    `json:"plan"`     // what ours does
	Wrong  int       `json:"wrong"`    // broadcasts after which some rank had a wrong byte
	Tune   float64   `json:"tune_s"`   // time to decide on the plan

	Reproducible []float64 `json:"reproducible_s,omitempty"` // of an Allreduce: ours in the same rounds, with reproducible sums
}

// The time from the moment when all ranks are told of a broadcast until its root starts: they are in it by then, the last one
// after 1 ms. Go's runtime takes a call of C for a long one after 10 ms, and then looks 50 times every 20 us what there is
// to do: all ranks did when every second broadcast arrived, which took 2 ms instead of 0.9.
const castLead = 5e-3 // s

// A caster times broadcasts. The ranks of a lab run on one machine, and so have one clock.
type caster struct {
	comm  mpi.Communicator
	now   func() float64
	all   *share.Tree
	buf   []byte
	count uint64 // broadcasts so far, for their contents
	wrong int    // of them, on this rank

	fill   func(starts bool) // writes the contents of the next one
	filled func() bool       // tells whether what came of it is right
}

// measureCasts is collective: it times broadcasts, ours and the library's in turn, and
// returns the rows of rank 0.
func measureCasts(comm mpi.Communicator, file string) (rows []castRow, err error) {
	var job castJob
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := jsonfile.Decode(bytes.NewReader(text), &job); err != nil {
		return nil, err
	}
	native, has := comm.(mpi.NativeBcast)
	clock, ticks := comm.(mpi.Clock)
	if !has || !ticks {
		return nil, fmt.Errorf("labtest: %T: want a broadcast and a clock of its own", comm)
	}
	const tag = 8
	c := &caster{comm: comm, now: clock.Now, all: share.Binomial(comm, 0, tag)}
	var ours *bcast.Broadcaster
	if !job.NativeOnly {
		s := &bcast.Settings{ModelOnly: job.ModelOnly}
		if comm.Rank() == 0 {
			if s.Network, err = readNetwork(job.Network); err != nil {
				return nil, err
			}
		}
		if ours, err = bcast.New(comm, s); err != nil {
			return nil, err
		}
		for _, warning := range ours.Warnings() {
			if comm.Rank() == 0 {
				fmt.Fprintln(os.Stderr, "warning:", warning)
			}
		}
	}
	if job.Allreduce {
		if rows, err = c.allreduces(&job); err != nil {
			return nil, err
		}
		job.Roots = nil
	}
	for _, root := range job.Roots {
		for _, size := range job.Sizes {
			row, err := c.cell(&job, ours, native, root, size)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func readNetwork(file string) (*model.Network, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return model.Read(f)
}

// cell is collective; the row is whole on rank 0 only.
func (c *caster) cell(job *castJob, ours *bcast.Broadcaster, native mpi.NativeBcast, root, size int) (castRow, error) {
	row := castRow{Root: root, Bytes: size}
	ways := []func() error{func() error { return native.Bcast(c.buf, root) }}
	times := []*[]float64{&row.Native}
	if ours != nil {
		begin := c.now()
		if err := ours.Tune([]int{root}, size); err != nil {
			return row, err
		}
		row.Tune = c.now() - begin
		plan, err := ours.Plan(size, root)
		if err != nil {
			return row, err
		}
		row.Plan = plan.String()
		ways = append(ways, func() error { return ours.Bcast(c.buf, root) })
		times = append(times, &row.Ours)
	}
	c.buf = make([]byte, size)
	c.fill, c.filled = c.fillCast, c.castFilled
	return row, c.rounds(job, &row, root, ways, times)
}

// rounds is collective: it times the ways of a cell in turn, and counts what is wrong.
func (c *caster) rounds(job *castJob, row *castRow, root int, ways []func() error, times []*[]float64) error {
	c.wrong = 0
	size := row.Bytes
	warm := 2
	if size > 1<<20 {
		warm = 1 // connections are open, and it takes seconds
	}
	begin := c.now()
	// In random order, the same on all ranks: what comes and goes regularly favours none.
	random := rand.New(rand.NewPCG(uint64(root), uint64(size)))
	for n := -warm; n < job.Rounds; n++ {
		for k, i := range random.Perm(len(ways)) {
			t, stop, err := c.time(ways[i], root, n >= leastRounds && k == 0 && c.now()-begin > job.Budget)
			if err != nil {
				return err
			}
			if stop {
				return c.addWrong(row)
			}
			if n >= 0 {
				*times[i] = append(*times[i], t)
			}
		}
		if n < 0 {
			begin = c.now()
		}
	}
	return c.addWrong(row)
}

// everyRank stands for the root where all ranks start at once.
const everyRank = -1

// time is collective: the time in s of one broadcast, from the start of the root, or of all ranks, to the
// end of the last rank, on rank 0. Or all stop, if rank 0 wants to.
func (c *caster) time(run func() error, root int, stop bool) (took float64, stopped bool, err error) {
	c.count++
	starts := root == everyRank || c.comm.Rank() == root
	c.fill(starts)
	ready := [8]byte{}
	if err := c.all.Collect(ready[:], make([]byte, len(ready)), func([]byte) {}); err != nil {
		return 0, false, err
	}
	start := c.now() + castLead
	if stop {
		start = math.Inf(1)
	}
	told := ready
	binary.LittleEndian.PutUint64(told[:], math.Float64bits(start))
	if err := c.all.Tell(told[:]); err != nil {
		return 0, false, err
	}
	start = math.Float64frombits(binary.LittleEndian.Uint64(told[:]))
	if math.IsInf(start, 1) {
		return 0, true, nil
	}
	if starts {
		time.Sleep(time.Duration((start - c.now() - 200e-6) * 1e9))
		for c.now() < start {
		}
		start = c.now()
	}
	if err := run(); err != nil {
		return 0, false, err
	}
	end := c.now()
	// What is collected: the last start of a rank that starts, and the last end.
	if !starts {
		start = math.Inf(-1)
	}
	var times, child [16]byte
	put := func() {
		binary.LittleEndian.PutUint64(times[:], math.Float64bits(start))
		binary.LittleEndian.PutUint64(times[8:], math.Float64bits(end))
	}
	put()
	err = c.all.Collect(times[:], child[:], func(child []byte) {
		start = max(start, math.Float64frombits(binary.LittleEndian.Uint64(child)))
		end = max(end, math.Float64frombits(binary.LittleEndian.Uint64(child[8:])))
		put()
	})
	if err == nil {
		err = c.all.Tell(ready[:]) // all have ended: looking at the bytes takes the core that the ranks share
	}
	if err == nil && !c.filled() {
		c.wrong++
	}
	return end - start, false, err
}

// addWrong is collective: rank 0 gets the number of wrong broadcasts, summed over the ranks.
func (c *caster) addWrong(row *castRow) error {
	var sum, child [8]byte
	binary.LittleEndian.PutUint64(sum[:], uint64(c.wrong))
	err := c.all.Collect(sum[:], child[:], func(child []byte) {
		binary.LittleEndian.PutUint64(sum[:], binary.LittleEndian.Uint64(sum[:])+binary.LittleEndian.Uint64(child))
	})
	row.Wrong = int(binary.LittleEndian.Uint64(sum[:]))
	return err
}

// word is what stands at an offset in the current broadcast: no two broadcasts and no two
// offsets share it.
func (c *caster) word(offset int) uint64 {
	x := (c.count<<32 + uint64(offset)) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// fillCast writes what is broadcast, or its complement, which is wrong in every byte.
func (c *caster) fillCast(right bool) {
	flip := ^uint64(0)
	if right {
		flip = 0
	}
	var last [8]byte
	for i := 0; i < len(c.buf); i += 8 {
		binary.LittleEndian.PutUint64(last[:], c.word(i)^flip)
		copy(c.buf[i:], last[:])
	}
}

// castFilled tells whether every byte is right.
func (c *caster) castFilled() bool {
	var want [8]byte
	for i := 0; i < len(c.buf); i += 8 {
		binary.LittleEndian.PutUint64(want[:], c.word(i))
		part := c.buf[i:min(i+8, len(c.buf))]
		if !bytes.Equal(part, want[:len(part)]) {
			return false
		}
	}
	return true
}
