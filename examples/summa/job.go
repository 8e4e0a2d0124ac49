package main

import (
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// A job is one way to do the work: a grid, and what broadcasts along its rows and columns.
type job struct {
	comm     *collective.Comm
	under    mpi.Communicator // that of comm
	grid     *grid
	row, col caster
	overlap  bool // the next panels are under way during the product of these
	n, panel int
	rate     float64 // flop/s of a simulated rank

	split         // of the run under way
	last  float64 // s, of its last reading
	now   func() float64
}

// split is where the time of a rank goes, in s.
type split struct {
	total, communication, synchronisation, computation float64

	predicted float64 // of communication, by the plans of the broadcasts, each alone; NaN if it is not
}

func newJob(comm mpi.Communicator, c *collective.Comm, g *grid, o *options) *job {
	begin := time.Now()
	j := &job{comm: c, under: comm, grid: g, n: o.n, panel: o.panel, rate: o.rate, now: func() float64 { return time.Since(begin).Seconds() }}
	if clock, ok := comm.(mpi.Clock); ok {
		j.now = clock.Now
	}
	return j
}

// lap adds the time since the last lap to one of split.
func (j *job) lap(to *float64) {
	now := j.now()
	*to += now - j.last
	j.last = now
}

// run is collective: it times work, which begins on all ranks at once.
func (j *job) run(work func() error) (split, error) {
	if err := collective.Barrier(j.comm); err != nil {
		return split{}, err
	}
	j.split = split{}
	j.last = j.now()
	begin := j.last
	err := work()
	j.lap(&j.computation)
	j.total = j.last - begin
	return j.split, err
}

// simulated is a rank of simnet, where computation takes no time by itself.
type simulated interface{ Sleep(seconds float64) }

// computed lets a simulated rank have computed.
func (j *job) computed(flops int) {
	if s, ok := j.under.(simulated); ok {
		s.Sleep(float64(flops) / j.rate)
	}
}

// add adds (or, with alpha -1, subtracts) a product, in pieces between which broadcasts go on.
func (j *job) add(alpha float64, a, b, c blas64.General, next ...pending) error {
	const piece = 64 // rows
	for from := 0; from < c.Rows && c.Cols > 0; from += piece {
		rows := min(piece, c.Rows-from)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, part(a, rows, a.Cols, from, 0), b, 1, part(c, rows, c.Cols, from, 0))
		j.computed(2 * rows * a.Cols * c.Cols)
		j.lap(&j.computation)
		for _, p := range next {
			if p == nil {
				continue
			}
			if _, err := p.Test(); err != nil {
				return err
			}
		}
		j.lap(&j.communication)
	}
	return nil
}

// meet waits until all ranks are there: until what is broadcast next has been computed.
func (j *job) meet() error {
	j.lap(&j.computation)
	err := collective.Barrier(j.comm)
	j.lap(&j.synchronisation)
	return err
}

// wait ends a broadcast.
func (j *job) wait(p pending) error {
	j.lap(&j.computation)
	err := p.Wait()
	j.lap(&j.communication)
	return err
}

// cast starts a broadcast.
func (j *job) cast(by caster, panel []float64, root int) (pending, error) {
	j.lap(&j.computation)
	p, err := by.start(panel, root)
	j.lap(&j.communication)
	j.predicted += by.predict(8*len(panel), root)
	j.last = j.now() // which takes no part in it
	return p, err
}
