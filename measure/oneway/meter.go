package oneway

import (
	"time"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of the messages.
const (
	tagExchange = harness.FirstTag + iota // that are stamped
	tagStamps                             // that bring the stamps
)

// A meter is the test of a pair: messages to and fro, which both ranks stamp.
type meter struct {
	comm  mpi.Communicator
	now   func() float64 // s
	plan  *plan
	buf   []byte
	times []float64 // s; two stamps per sample: of sending and receiving, or of receiving and answering
	bytes []byte    // the stamps, as they travel
}

func newMeter(comm mpi.Communicator, p *plan) *meter {
	m := &meter{comm: comm, plan: p, buf: make([]byte, p.Bytes), times: make([]float64, 2*p.Samples), bytes: make([]byte, 16*p.Samples)}
	if c, ok := comm.(mpi.Clock); ok {
		m.now = c.Now
		return m
	}
	// The wall clock is the one that PTP sets, and that all ranks of a machine share. A small
	// number of seconds keeps its nanoseconds as a float64.
	m.now = func() float64 { return float64(time.Now().UnixNano()-p.Epoch) * 1e-9 }
	return m
}

// columns of a row of the lower rank of a pair: its clock, and the lower quartiles of t_ij and t_ji.
var columns = []string{"at_s", "there_s", "back_s"}

// exchange is some messages to and fro, after one that waits for the later of the two ranks.
func (m *meter) exchange(rows []float64, peer int, _ bool, samples int) ([]float64, error) {
	samples = min(samples, m.plan.Samples) // to warm up, all
	times, bytes := m.times[:2*samples], m.bytes[:16*samples]
	first := m.comm.Rank() < peer
	for i := -1; i < samples; i++ {
		var before, after float64
		if first {
			before = m.now()
			if err := m.comm.Send(m.buf, peer, tagExchange); err != nil {
				return rows, err
			}
		}
		if err := m.comm.Recv(m.buf, peer, tagExchange); err != nil {
			return rows, err
		}
		after = m.now()
		if !first {
			before, after = after, m.now()
			if err := m.comm.Send(m.buf, peer, tagExchange); err != nil {
				return rows, err
			}
		}
		if i >= 0 {
			times[2*i], times[2*i+1] = before, after
		}
	}
	if !first {
		return rows, m.comm.Send(share.AppendFloats(bytes[:0], times), peer, tagStamps)
	}
	if err := m.comm.Recv(bytes, peer, tagStamps); err != nil {
		return rows, err
	}
	peers := share.Floats(bytes)
	there, back := make([]float64, samples), make([]float64, samples)
	for i := range samples {
		there[i], back[i] = peers[2*i]-times[2*i], times[2*i+1]-peers[2*i+1]
	}
	return append(rows, times[0], stats.Quantile(there, quarter), stats.Quantile(back, quarter)), nil
}

// quarter of the exchanges undisturbed are enough.
const quarter = 0.25
