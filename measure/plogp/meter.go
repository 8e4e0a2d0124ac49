package plogp

import (
	"math"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// A meter is one rank's end of the pair that is being measured: it times the patterns of the pair where its rank measures,
// and mirrors them where the other one does.
type meter struct {
	comm     mpi.Communicator
	peer     int
	settings *settings
	buf      []byte // for the longest message, and for all of a burst that are under way
	word     []byte
	sets     [2]mpi.Requests // for bursts

	now     func() float64                       // s
	cost    float64                              // s, of reading the clock
	ssend   func(buf []byte, dst, tag int) error // Send, where there is no synchronous one
	sleep   func(seconds float64)                // nil: the clock is read until it is time
	samples []float64
	sends   []float64
}

// newMeter prepares the calling rank for its pairs.
func newMeter(comm mpi.Communicator, s *settings) *meter {
	saturated := min(s.SaturatedUpTo, s.longest())
	m := &meter{
		comm: comm, settings: s, word: make([]byte, commandBytes),
		buf:  make([]byte, max(s.longest(), 2*saturated, min(2*batchBytes, 2*mostBatch*saturated))),
		sets: [2]mpi.Requests{mpi.NewRequests(comm), mpi.NewRequests(comm)},
		now:  share.Clock(comm), cost: pingpong.New(comm, 0, 1).Cost, ssend: comm.Send,
		samples: make([]float64, s.Samples), sends: make([]float64, s.Samples),
	}
	if c, ok := comm.(mpi.SyncSender); ok {
		m.ssend = c.Ssend
	}
	if c, ok := comm.(interface{ Sleep(seconds float64) }); ok {
		m.sleep = c.Sleep
	}
	return m
}

// echoes measures messages of one size that are answered by one of 0 bytes
// (Reinfjell 2023, figure 3.5 b): the median times in s until the answer is
// there, and until send has returned.
func (m *meter) echoes(size int, send func(buf []byte, dst, tag int) error) (trip, sending float64, err error) {
	if err := m.ask(command{echo, m.settings.Samples, size}); err != nil {
		return 0, 0, err
	}
	for i := range m.samples {
		start := m.now()
		if err := send(m.buf[:size], m.peer, tagForth); err != nil {
			return 0, 0, err
		}
		sent := m.now()
		if err := m.comm.Recv(nil, m.peer, tagBack); err != nil {
			return 0, 0, err
		}
		m.sends[i] = m.less(sent-start, 1)
		m.samples[i] = m.less(m.now()-start, 2)
	}
	return stats.Median(m.samples), stats.Median(m.sends), nil
}

// receives measures or(m) in s (Reinfjell 2023, figure 3.6): what Recv takes
// when the message is there. It waits until patience times the round trip
// has passed since the request.
func (m *meter) receives(size int, rtt float64) (float64, error) {
	if err := m.ask(command{request, m.settings.Samples, size}); err != nil {
		return 0, err
	}
	for i := range m.samples {
		there := m.now() + patience*rtt
		if err := m.comm.Send(nil, m.peer, tagForth); err != nil {
			return 0, err
		}
		m.waitUntil(there)
		start := m.now()
		if err := m.comm.Recv(m.buf[:size], m.peer, tagBack); err != nil {
			return 0, err
		}
		m.samples[i] = m.less(m.now()-start, 1)
	}
	return stats.Median(m.samples), nil
}

// waitUntil lets time pass without communication: by sleeping where time is
// virtual, otherwise busy, since a rank that sleeps wakes up late.
func (m *meter) waitUntil(moment float64) {
	if m.sleep != nil {
		if left := moment - m.now(); left > 0 {
			m.sleep(left)
		}
		return
	}
	for m.now() < moment {
	}
}

// less takes the cost of so many readings of the clock out of a time in s.
func (m *meter) less(t float64, measurements int) float64 {
	return max(t-float64(measurements)*m.cost, 0)
}

// Saturation is reached by rows of messages (Reinfjell 2023, section 3.1.2): at
// first 10, then twice as many. They end when the time per message, or what further
// ones add, changes by at most 1 %. A change of no more than a thousandth of the
// round trip ends them, too: no time of a message tells it.
const (
	firstStream = 10
	saturation  = 0.01
	untold      = 1e-3
	mostStream  = 37500
	streams     = 3       // of which the least counts: what disturbs a row makes it longer
	mostBytes   = 1 << 30 // B in a row: a second at 10 Gbit/s
	longRow     = 0.02    // s; what disturbs a row of this length is no matter of its length

	// Of messages that take long, a few fill the way.
	longTrip  = longRow / firstStream // s
	fewStream = 4

	// asks is by how much messages that are started together have to be faster. Then the
	// reason is that the library asks the receiver before each.
	asks = 0.1
)

// saturated measures g(m) in s by saturation: rows of messages of which the last
// is answered. The answer's way is in their times, so the time per message, which
// the thesis takes, nears g(m) as 1/n only; what further messages add is g(m) itself.
// Where a library asks before it sends (rendezvous), the way is empty while the next message of a
// row waits for its answer; rows of messages some of which are started together fill it.
// Steady tells whether it has settled before the rows became too long. trip is
// RTT(m) in s.
func (m *meter) saturated(size int, trip float64) (gap float64, steady bool, err error) {
	how, count := stream, firstStream
	if trip > longTrip {
		count = fewStream
	}
	total, err := m.row(how, count, size)
	if err != nil {
		return 0, false, err
	}
	if size > 0 {
		together, err := m.row(burst, count, size)
		if err != nil {
			return 0, false, err
		}
		if together < (1-asks)*total {
			how, total = burst, together
		}
	}
	for before := math.NaN(); ; {
		n := min(2*count, max(count+1, m.settings.LongestRow))
		longer, err := m.row(how, n, size)
		if err != nil {
			return 0, false, err
		}
		gap = (longer - total) / float64(n-count)
		perMessage := longer / float64(n)
		steady = math.Abs(gap-before) <= max(saturation*gap, untold*trip) ||
			math.Abs(perMessage-total/float64(count)) <= saturation*perMessage
		tooLong := n >= m.settings.LongestRow || 2*n*size > mostBytes || longer > longRow && !math.IsNaN(before)
		if steady || tooLong {
			return gap, steady, nil
		}
		before, total, count = gap, longer, n
	}
}

// row times n messages in a row and their answer, in s: the least of some rows.
func (m *meter) row(how pattern, n, size int) (least float64, err error) {
	least = math.Inf(1)
	for range streams {
		if err := m.ask(command{how, n, size}); err != nil {
			return 0, err
		}
		start := m.now()
		if how == burst {
			err = m.burst(n, size, func(set mpi.Requests, buf []byte) error { return set.Isend(buf, m.peer, tagForth) })
		} else {
			for i := 0; i < n && err == nil; i++ {
				err = m.comm.Send(m.buf[:size], m.peer, tagForth)
			}
		}
		if err != nil {
			return 0, err
		}
		if err := m.comm.Recv(nil, m.peer, tagBack); err != nil {
			return 0, err
		}
		least = min(least, m.less(m.now()-start, 1))
	}
	return least, nil
}
