package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A job has a grid, and what broadcasts along its rows and columns.
type job struct {
	comm     *collective.Comm
	grid     *grid
	row, col caster
	overlap  bool // the next panels are under way during the product of these; row and col are topology-aware
	n, panel int
	watch    *gridjob.Watch

	meets    bool             // a barrier comes before each broadcast, and separates waiting for others from communication
	underWay []*bcast.Pending // with overlap
	split                     // of the run under way
}

// split has the shares of the time of a rank, in s.
type split struct {
	total, communication, synchronisation, computation float64

	predicted float64 // communication by the plans of the broadcasts, each alone; NaN: not predicted
}

// run is collective: it times work, after a barrier.
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

// add adds alpha times a product to c. It computes in pieces, between which broadcasts progress.
func (j *job) add(alpha float64, a, b, c blas64.General) error {
	const piece = 64 // rows
	for from := 0; from < c.Rows && c.Cols > 0; from += piece {
		rows := min(piece, c.Rows-from)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, part(a, rows, a.Cols, from, 0), b, 1, part(c, rows, c.Cols, from, 0))
		j.watch.Computed(float64(2 * rows * a.Cols * c.Cols))
		j.watch.Lap(&j.computation)
		for _, p := range j.underWay {
			if _, err := p.Test(); err != nil {
				return err
			}
		}
		j.watch.Lap(&j.communication)
	}
	return nil
}

// meet is collective: it waits for all ranks, which have then computed what is broadcast next. It does nothing if the job does not meet, or
// overlaps broadcasts.
func (j *job) meet() error {
	j.watch.Lap(&j.computation)
	if !j.meets || j.overlap {
		return nil
	}
	err := collective.Barrier(j.comm)
	j.watch.Lap(&j.synchronisation)
	return err
}

// cast broadcasts. With overlap it begins a broadcast, which arrive ends.
func (j *job) cast(by caster, panel []float64, root int) (err error) {
	j.watch.Lap(&j.computation)
	if j.overlap {
		var begun *bcast.Pending
		if begun, err = bcast.IbcastSlice(by.(along).Broadcaster, panel, root); err == nil {
			j.underWay = append(j.underWay, begun)
		}
	} else {
		err = by.cast(panel, root)
	}
	j.watch.Lap(&j.communication)
	j.predicted += by.predict(8*len(panel), root)
	j.watch.Start() // the prediction is not part of the work
	return err
}

// arrive waits for the broadcasts under way.
func (j *job) arrive() error {
	j.watch.Lap(&j.computation)
	for _, p := range j.underWay {
		if err := p.Wait(); err != nil {
			return err
		}
	}
	j.underWay = j.underWay[:0]
	j.watch.Lap(&j.communication)
	return nil
}
