package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A job is one way to do the work: a grid, and what broadcasts along its rows and columns.
type job struct {
	comm     *collective.Comm
	grid     *grid
	row, col caster
	overlap  bool // the next panels are under way during the product of these
	n, panel int
	watch    *gridjob.Watch

	meets bool // at a barrier before each broadcast, so that waiting for others is told from communication
	split      // of the run under way
}

// split is where the time of a rank goes, in s.
type split struct {
	total, communication, synchronisation, computation float64

	predicted float64 // of communication, by the plans of the broadcasts, each alone; NaN if it is not
}

// run is collective: it times work, which begins on all ranks at once.
func (j *job) run(meets bool, work func() error) (split, error) {
	if err := collective.Barrier(j.comm); err != nil {
		return split{}, err
	}
	j.meets, j.split = meets, split{}
	begin := j.watch.Start()
	err := work()
	j.total = j.watch.Lap(&j.computation) - begin
	return j.split, err
}

// add adds (or, with alpha -1, subtracts) a product, in pieces between which broadcasts go on.
func (j *job) add(alpha float64, a, b, c blas64.General, next ...pending) error {
	const piece = 64 // rows
	for from := 0; from < c.Rows && c.Cols > 0; from += piece {
		rows := min(piece, c.Rows-from)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, part(a, rows, a.Cols, from, 0), b, 1, part(c, rows, c.Cols, from, 0))
		j.watch.Computed(float64(2 * rows * a.Cols * c.Cols))
		j.watch.Lap(&j.computation)
		for _, p := range next {
			if p == nil {
				continue
			}
			if _, err := p.Test(); err != nil {
				return err
			}
		}
		j.watch.Lap(&j.communication)
	}
	return nil
}

// meet waits until all ranks are there: until what is broadcast next has been computed. It does so where that is to
// be told from communication, and broadcasts do not overlap.
func (j *job) meet() error {
	j.watch.Lap(&j.computation)
	if !j.meets || j.overlap {
		return nil
	}
	err := collective.Barrier(j.comm)
	j.watch.Lap(&j.synchronisation)
	return err
}

// cast broadcasts.
func (j *job) cast(by caster, panel []float64, root int) error {
	j.watch.Lap(&j.computation)
	err := by.cast(panel, root)
	j.watch.Lap(&j.communication)
	j.expect(by, panel, root)
	return err
}

// start begins a broadcast.
func (j *job) start(by caster, panel []float64, root int) (pending, error) {
	j.watch.Lap(&j.computation)
	p, err := by.start(panel, root)
	j.watch.Lap(&j.communication)
	j.expect(by, panel, root)
	return p, err
}

// wait ends it.
func (j *job) wait(p pending) error {
	j.watch.Lap(&j.computation)
	err := p.Wait()
	j.watch.Lap(&j.communication)
	return err
}

// expect adds what a broadcast is predicted to take, which takes no part in the time.
func (j *job) expect(by caster, panel []float64, root int) {
	j.predicted += by.predict(8*len(panel), root)
	j.watch.Start()
}
