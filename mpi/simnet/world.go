package simnet

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

var (
	// ErrDeadlock is wrapped by the error of Run when all ranks that had not
	// returned were waiting, and nothing was under way.
	ErrDeadlock = errors.New("deadlock")

	// ErrLost is returned by all operations of a rank that Faults.Lost
	// has ended.
	ErrLost = errors.New("this rank is lost")
)

// A Report tells what a simulation has moved.
type Report struct {
	Seconds   float64 // virtual time at which the last rank returned
	Messages  int64   // that were sent
	Bytes     int64   // in them
	LinkBytes []int64 // per arc of the graph, the bytes that crossed it
}

// Run runs body on one rank per entry of placement, in virtual time: rank r
// runs on host placement[r] of the graph. Nil places one rank on each host, in
// order. It returns when all ranks have returned. An error or panic on one rank
// ends the simulation: operations of all other ranks return mpi.ErrAborted,
// now and later; Run then returns the first cause and names its rank.
//
// The communicators implement mpi.SyncSender, NonBlocking, Clock, Placed, Timed, Splitter and
// io.Closer, and are of type *Comm. They are no mpi.Failer: nothing looks after simulated ranks. Ranks must
// talk by messages alone: one that waits for another on a Go channel or lock
// stops the simulation for good, and so does runtime.LockOSThread.
func Run(g *topology.Graph, placement []int, s *Settings, body func(mpi.Communicator) error) error {
	_, err := Simulate(g, placement, s, body)
	return err
}

// Simulate is Run with a report, which is also given if the run failed.
func Simulate(g *topology.Graph, placement []int, s *Settings, body func(mpi.Communicator) error) (*Report, error) {
	w, err := newWorld(g, placement, s)
	if err != nil {
		return nil, err
	}
	// On a goroutine of its own: coroutines do not mix with a caller that is
	// locked to a thread, and a rank's runtime.Goexit is to end only it.
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer w.abandon()
		w.simulate(body)
	}()
	<-done
	return w.report, w.cause
}

// A world is a simulation. One goroutine runs at a time: the scheduler, or the
// rank that it has resumed.
type world struct {
	settings Settings
	graph    *topology.Graph
	net      *network
	ranks    []rank
	noisy    bool
	hollow   []byte // memory of messages without content, of all ranks

	now      instant
	queue    eventQueue
	sequence uint64
	ready    []*rank // to be resumed at this instant, in order
	running  int     // ranks that have not returned
	lookers  []*rank // that have looked at this instant, and look again when something has happened
	inVain   int     // times in a row that they have looked when nothing could
	waiting  map[matchKey]*message
	recurs   int          // faults that have an event in the queue for ever
	free     *message     // that may be used again
	parks    [32][][]byte // for bytes of eager messages, by the logarithm of their length
	groups   uint32       // that splits have made so far
	machine  []int        // by host of the graph: see machines
	cause    error        // that has ended the simulation
	report   *Report
}

func newWorld(g *topology.Graph, placement []int, s *Settings) (*world, error) {
	if placement == nil {
		placement = make([]int, g.Hosts())
		for i := range placement {
			placement[i] = i
		}
	}
	if n := len(placement); n < 1 || n >= 1<<rankBits {
		return nil, fmt.Errorf("simnet: %d ranks: want 1 to %d", n, 1<<rankBits-1)
	}
	settings, err := s.validate(g, len(placement))
	if err != nil {
		return nil, err
	}
	w := &world{
		settings: settings, graph: g, waiting: make(map[matchKey]*message, len(placement)), running: len(placement),
		noisy: settings.Noise != Noise{}, ranks: make([]rank, len(placement)), report: &Report{}, machine: machines(g, settings.Node),
	}
	if w.net, err = newNetwork(g, &settings); err != nil {
		return nil, err
	}
	all := &group{ranks: make([]int32, len(placement))}
	for i, host := range placement {
		if host < 0 || host >= g.Hosts() {
			return nil, fmt.Errorf("simnet: placement: rank %d on host %d: want 0 to %d", i, host, g.Hosts()-1)
		}
		r := &w.ranks[i]
		all.ranks[i] = int32(i)
		*r = rank{world: w, id: int32(i), host: int32(host), looked: -1}
		r.own = requests{rank: r, entries: r.firstEntry[:0]}
		r.streams = r.firstStreams[:0]
		r.random = *rand.NewPCG(settings.Seed, uint64(i))
		r.stallRandom = *rand.NewPCG(settings.Seed, stallStream+uint64(i))
		r.setClock()
		r.all = Comm{world: w, rank: r, group: all, me: i, isOpen: true}
	}
	w.giveCPUs()
	for k := range settings.Faults.Slow {
		before := len(w.queue)
		w.change(int32(k))
		if settings.Faults.Slow[k].When.recurs() && len(w.queue) > before {
			w.recurs++
		}
	}
	for i, l := range settings.Faults.Lost {
		w.schedule(fault, int32(len(settings.Faults.Slow)+i), picoseconds(l.From), nil)
	}
	return w, w.cause
}

// giveCPUs numbers the CPUs of each machine: first its hosts, then what ranks
// need that share one.
func (w *world) giveCPUs() {
	next := make(map[int]int32)             // by machine: the CPU that comes next
	cores := make([]int32, w.graph.Hosts()) // by host: its CPU
	hasRank := make([]bool, w.graph.Hosts())
	for host := range cores {
		m := w.machine[host]
		cores[host] = next[m]
		next[m]++
	}
	for i := range w.ranks {
		r := &w.ranks[i]
		r.core = cores[r.host]
		if r.cpu = r.core; hasRank[r.host] {
			m := w.machine[r.host]
			r.cpu = next[m]
			next[m]++
		}
		hasRank[r.host] = true
	}
}

// simulate starts the ranks in order, and then lets time pass. To resume a
// coroutine costs 0.1 us, where two channel operations take 0.4 us.
func (w *world) simulate(body func(mpi.Communicator) error) {
	for i := range w.ranks {
		r := &w.ranks[i]
		r.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
			r.yield = yield
			r.run(body)
		})
		w.ready = append(w.ready, r)
	}
	for w.cause == nil && w.running > 0 {
		for i := 0; i < len(w.ready) && w.cause == nil; i++ {
			w.ready[i].resume()
		}
		w.ready = w.ready[:0]
		switch {
		case w.cause != nil || w.running == 0:
		case len(w.queue) > 0 && w.queue[0].at == w.now:
			w.handle()
		case w.net.stale:
			w.net.solve(w.now, &w.queue)
		case len(w.queue) <= w.recurs && len(w.lookers) > 0 && w.inVain < mostInVain:
			w.inVain++
			w.wakeLookers()
		case len(w.queue) <= w.recurs:
			w.fail(w.deadlock())
		case w.queue[0].at == forever:
			w.fail(fmt.Errorf("simnet: the next event lies more than %.0f days ahead", forever.seconds()/86400))
		default:
			w.now = w.queue[0].at
		}
	}
}

// mostInVain is how often ranks may look whether their transfers are complete
// while no rank does anything else: one that looks in a loop would do so for ever.
const mostInVain = 1000

func (w *world) wakeLookers() {
	w.ready = append(w.ready, w.lookers...)
	w.lookers = w.lookers[:0]
}

// handle handles the events of this instant.
func (w *world) handle() {
	defer w.wakeLookers()
	w.inVain = 0
	for len(w.queue) > 0 && w.queue[0].at == w.now && w.cause == nil {
		switch e := w.queue.pop(); e.kind() {
		case arrival:
			if err := w.end(e.m); err != nil {
				w.fail(fmt.Errorf("simnet: message from rank %d to rank %d: %w", e.m.src, e.m.dst, err))
			}
		case departure:
			if err := w.begin(e.m); err != nil {
				w.fail(fmt.Errorf("simnet: message from rank %d to rank %d: %w", e.m.src, e.m.dst, err))
			}
		case fault:
			w.change(e.rank())
		case look:
			if r := &w.ranks[e.rank()]; !r.isLost {
				w.ready = append(w.ready, r)
			}
		}
	}
}

// change lets fault k come, grow or go. Lost ranks are numbered after what is slow.
func (w *world) change(k int32) {
	if i := int(k) - len(w.net.faults); i >= 0 {
		w.lose(&w.ranks[w.settings.Faults.Lost[i].Rank])
		return
	}
	next, err := w.net.disturb(int(k), w.now)
	if err != nil {
		w.fail(fmt.Errorf("simnet: fault: %w", err))
	}
	if next < forever {
		w.schedule(fault, k, next, nil)
	}
}

// fail ends the simulation unless it is ending already.
func (w *world) fail(cause error) {
	if w.cause == nil {
		w.cause = cause
	}
}

// abandon lets the ranks that have not returned do so: their operations return
// errors from now on. It is also reached when a rank has called Goexit.
func (w *world) abandon() {
	for i := range w.ranks {
		w.report.Seconds = max(w.report.Seconds, w.ranks[i].clock.seconds())
	}
	w.report.LinkBytes = slices.Clip(w.net.bytes[:w.net.arcs])
	// Deferred, so that the Goexit of one does not keep the others; and
	// backwards, so that they end in order.
	for i := len(w.ranks) - 1; i >= 0; i-- {
		if r := &w.ranks[i]; !r.hasLeft && r.resume != nil {
			defer r.resume()
		}
	}
}
