package simnet_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

const tick = 1e-12 // s; times are rounded to it, once or twice in a test

// finish runs body and returns the virtual time at which each rank returns.
func finish(t *testing.T, g *topology.Graph, placement []int, s *simnet.Settings, body func(c mpi.Communicator) error) []float64 {
	t.Helper()
	n := len(placement)
	if placement == nil {
		n = g.Hosts()
	}
	at := make([]float64, n)
	err := simnet.Run(g, placement, s, func(c mpi.Communicator) error {
		err := body(c)
		at[c.Rank()] = c.(mpi.Clock).Now()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func wantTimes(t *testing.T, got []float64, want ...float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 3*tick {
			t.Errorf("rank %d returns at %.12g s, want %.12g", i, got[i], want[i])
		}
	}
}

// star:3 has links of 5 us and 1.25e9 B/s: a route of 10 us.
func TestOneMessageTakesOverheadsLatencyAndSize(t *testing.T) {
	g := graphOf(t, "star:3")
	software := simnet.Settings{
		Send: simnet.Overhead{Seconds: 1e-6, PerByte: 1e-9}, Recv: simnet.Overhead{Seconds: 2e-6},
	}
	const route, rate = 10e-6, 1.25e9
	link := []int{g.ArcIndex(0, 3), g.ArcIndex(3, 0)}
	for _, c := range []struct {
		name        string
		s           simnet.Settings
		size        int
		ssend       bool
		sends, recv float64 // when the two return
	}{
		{"empty", simnet.Settings{}, 0, false, 0, route},
		{"eager", simnet.Settings{}, 1000, false, 0, route + 1000/rate},
		{"eager with overheads", software, 1000, false, 2e-6, 2e-6 + route + 1000/rate + 2e-6},
		// Request, consent, and the message itself.
		{"above the eager limit", simnet.Settings{}, 1 << 20, false, 3*route + (1<<20)/rate, 3*route + (1<<20)/rate},
		{"without handshake", simnet.Settings{NoHandshake: true}, 1 << 20, false, route + (1<<20)/rate, route + (1<<20)/rate},
		{"no eager messages", simnet.Settings{EagerLimit: -1}, 0, false, 3 * route, 3 * route},
		{"synchronous", simnet.Settings{}, 8, true, 3*route + 8/rate, 3*route + 8/rate},
		// 4000 B per 20 us are 2e8 B/s.
		{"window", simnet.Settings{Window: 4000}, 1000, false, 0, route + 1000/2e8},
		{"factors", simnet.Settings{Factors: []simnet.Factor{{0, 3, 0.5}, {1000, 2, 0.25}, {1001, 1, 1}}}, 1000, false, 0, 2*route + 1000/(0.25*rate)},
		{"slow link", simnet.Settings{Faults: simnet.Faults{Slow: []simnet.Slow{{Arcs: link, Latency: 4, Rate: 1 / 4.}}}}, 1000, false, 0, 25e-6 + 1000/(rate/4)},
		// Faults multiply: latency 5*4*3 + 5 us, rate 1/12.
		{"slow link twice", simnet.Settings{Faults: simnet.Faults{Slow: []simnet.Slow{{Arcs: link, Latency: 4, Rate: 1 / 4.}, {Arcs: link, Latency: 3, Rate: 1 / 3.}}}}, 1000, false, 0, 65e-6 + 1000/(rate/12)},
		{"slow host twice", simnet.Settings{Recv: software.Recv, Faults: simnet.Faults{Slow: []simnet.Slow{{Software: []int{1}, Latency: 3}, {Software: []int{1}, Latency: 2}}}}, 0, false, 0, route + 12e-6},
		{"slow host", simnet.Settings{Recv: software.Recv, Faults: simnet.Faults{Slow: []simnet.Slow{{Software: []int{1}, Latency: 3}}}}, 0, false, 0, route + 6e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.ClockCost = -1
			got := finish(t, g, nil, &c.s, func(comm mpi.Communicator) error {
				buf := make([]byte, c.size)
				switch {
				case comm.Rank() == 0 && c.ssend:
					return comm.(mpi.SyncSender).Ssend(buf, 1, 0)
				case comm.Rank() == 0:
					return comm.Send(buf, 1, 0)
				case comm.Rank() == 1:
					return comm.Recv(buf, 0, 0)
				}
				return nil
			})
			wantTimes(t, got, c.sends, c.recv, 0)
		})
	}
}

func TestRanksOfOneHostShareItsMemory(t *testing.T) {
	g := graphOf(t, "star:2")
	const size = 10000
	body := func(c mpi.Communicator) error {
		buf := make([]byte, size)
		if c.Rank() < 2 {
			return c.Send(buf, c.Rank()+2, 0)
		}
		return c.Recv(buf, c.Rank()-2, 0)
	}
	on := []int{1, 1, 1, 1}
	// Defaults: 200 ns, and 10e9 B/s that the two share.
	wantTimes(t, finish(t, g, on, &simnet.Settings{ClockCost: -1}, body), 0, 0, 200e-9+2*size/10e9, 200e-9+2*size/10e9)
	// One copy alone reaches 4e9 of 1e12 B/s.
	s := &simnet.Settings{ClockCost: -1, Memory: simnet.Memory{Latency: 1e-6, Bandwidth: 1e12, PerCopy: 4e9}}
	wantTimes(t, finish(t, g, on, s, body), 0, 0, 1e-6+size/4e9, 1e-6+size/4e9)
}

// Flows into one host share its link of 1.25e9 B/s.
func TestFlowsShareALink(t *testing.T) {
	g := graphOf(t, "star:4")
	s := &simnet.Settings{ClockCost: -1, EagerLimit: 1 << 30, HollowAbove: 1}
	into := func(sizes ...int) []float64 {
		return finish(t, g, nil, s, func(c mpi.Communicator) error {
			buf := make([]byte, 2500000)
			if c.Rank() > 0 && c.Rank() <= len(sizes) {
				return c.Send(buf[:sizes[c.Rank()-1]], 0, 0)
			}
			if c.Rank() == 0 {
				for i, size := range sizes {
					if err := c.Recv(buf[:size], i+1, 0); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	wantTimes(t, into(1250000), 10e-6+1e-3)
	wantTimes(t, into(1250000, 1250000), 10e-6+2e-3)
	// The short one ends at 1 ms with its 625,000 B, the long one has as much by
	// then, and the rest of 1,875,000 B alone, in 1.5 ms.
	wantTimes(t, into(625000, 2500000), 10e-6+2.5e-3)
	// Three share until 0.75 ms (312,500 B each), two until 1.25 ms (312,500
	// more), the last has 1,875,000 B left and 1.5 ms to go.
	wantTimes(t, into(312500, 625000, 2500000), 10e-6+2.75e-3)
}

// Zhu et al.: of 2 flows into a node and 1 out of it, fair sharing gives the
// lone one all of its direction; the asymmetric property holds it to the rate
// of the others; a coupling of a half lies at the geometric mean.
func TestDirectionsDisturbEachOtherAsSharingSays(t *testing.T) {
	g := graphOf(t, "star:4")
	const size, rate = 1250000, 1.25e9
	for _, c := range []struct {
		name    string
		sharing contention.Sharing
		out, in float64 // rates of the lone flow, and of each of the others
	}{
		{"fair", contention.Sharing{}, rate, rate / 2},
		{"asymmetric", contention.Sharing{Coupling: 1}, rate / 2, rate / 2},
		{"coupled by half", contention.Sharing{Coupling: 0.5}, rate * math.Sqrt(0.5), rate / 2},
	} {
		got := finish(t, g, nil, &simnet.Settings{ClockCost: -1, EagerLimit: 1 << 30, Sharing: c.sharing}, func(c mpi.Communicator) error {
			buf := make([]byte, size)
			switch c.Rank() {
			case 0: // the node: sends to 3, receives from 1 and 2
				r := c.(mpi.NonBlocking).NewRequests()
				if err := errors.Join(r.Isend(buf, 3, 0), r.Irecv(make([]byte, size), 1, 0), r.Irecv(make([]byte, size), 2, 0)); err != nil {
					return err
				}
				return r.WaitAll()
			case 3:
				return c.Recv(buf, 0, 0)
			default:
				return c.Send(buf, 0, 0)
			}
		})
		wantTimes(t, []float64{got[0], got[3]}, 10e-6+size/c.in, 10e-6+size/c.out)
	}
}

func TestMessagesOfOnePairFollowEachOther(t *testing.T) {
	g := graphOf(t, "star:2")
	const size = 12500 // 10 us
	times := func(concurrent bool) []float64 {
		var at []float64
		finish(t, g, nil, &simnet.Settings{ClockCost: -1, FlowPerMessage: concurrent}, func(c mpi.Communicator) error {
			buf := make([]byte, size)
			for range 3 {
				if c.Rank() == 0 {
					if err := c.Send(buf, 1, 0); err != nil {
						return err
					}
					continue
				}
				if err := c.Recv(buf, 0, 0); err != nil {
					return err
				}
				at = append(at, c.(mpi.Clock).Now())
			}
			return nil
		})
		return at
	}
	wantTimes(t, times(false), 20e-6, 30e-6, 40e-6)
	wantTimes(t, times(true), 40e-6, 40e-6, 40e-6)
}

// Overheads of several receives follow each other on the receiver's CPU, from
// when it waits and each message is there.
func TestWaitAllSpendsOverheadsOneAfterTheOther(t *testing.T) {
	g := graphOf(t, "star:4")
	s := &simnet.Settings{ClockCost: -1, Recv: simnet.Overhead{Seconds: 4e-6}}
	for _, c := range []struct{ busy, want float64 }{
		{0, 10e-6 + 3*4e-6},
		{50e-6, 50e-6 + 3*4e-6},
	} {
		got := finish(t, g, nil, s, func(comm mpi.Communicator) error {
			if comm.Rank() > 0 {
				return comm.Send(nil, 0, 0)
			}
			r := comm.(mpi.NonBlocking).NewRequests()
			for src := 1; src < 4; src++ {
				if err := r.Irecv(nil, src, 0); err != nil {
					return err
				}
			}
			comm.(*simnet.Comm).Sleep(c.busy)
			return r.WaitAll()
		})
		wantTimes(t, got, c.want)
	}
}

// A timed exchange takes exactly the time of the same loop of Send and Recv:
// empty messages, which are worked out at once, and others; behind a long
// message that is still under way; with noise.
func TestPingPongTakesTheTimeOfSendAndRecv(t *testing.T) {
	g := graphOf(t, "tree:2x2 spread=20% rate-spread=20% seed=2")
	software := simnet.Settings{Send: simnet.Overhead{Seconds: 3e-7}, Recv: simnet.Overhead{Seconds: 4e-7, PerByte: 1e-10}}
	noisy, waits, crowd := software, software, software
	noisy.Noise = simnet.Noise{Sigma: 0.05, Outliers: 0.1}
	waits.EagerLimit = -1
	crowd.FlowPerMessage = true
	for _, c := range []struct {
		name   string
		s      simnet.Settings
		size   int
		before int // bytes of the message sent before, from both sides
	}{
		{"empty", software, 0, 0},
		{"empty behind a long one", software, 0, 60000},
		{"empty beside a long one", crowd, 0, 60000},
		{"empty with noise", noisy, 0, 60000},
		{"empty, above the eager limit", waits, 0, 0},
		{"short", software, 8, 0},
		{"short with noise", noisy, 8, 60000},
		{"long", software, 50000, 60000},
		{"above the eager limit", software, 100000, 0},
	} {
		const samples, iters = 3, 4
		run := func(timed bool) (all [4][samples]float64, ends []float64) {
			ends = finish(t, g, nil, &c.s, func(comm mpi.Communicator) error {
				rank := comm.Rank()
				peer, first := 3-rank, rank < 2 // over the uplinks, which two pairs share
				comm.(*simnet.Comm).Sleep(float64(rank) * 3e-6)
				set := comm.(mpi.NonBlocking).NewRequests()
				if c.before > 0 && rank != 1 { // one of the four sends none
					if err := set.Isend(make([]byte, c.before), peer, 9); err != nil {
						return err
					}
				}
				out := all[rank][:]
				if timed {
					if err := comm.(mpi.Timed).PingPong(out, peer, 5, c.size, iters, first); err != nil {
						return err
					}
				} else {
					buf := make([]byte, c.size)
					for i := range out {
						start := comm.(mpi.Clock).Now()
						for range iters {
							var err error
							if first {
								err = errors.Join(comm.Send(buf, peer, 5), comm.Recv(buf, peer, 5))
							} else {
								err = errors.Join(comm.Recv(buf, peer, 5), comm.Send(buf, peer, 5))
							}
							if err != nil {
								return err
							}
						}
						out[i] = comm.(mpi.Clock).Now() - start
					}
				}
				if c.before > 0 && rank != 2 {
					if err := set.Irecv(make([]byte, c.before), peer, 9); err != nil {
						return err
					}
				}
				return set.WaitAll()
			})
			return all, ends
		}
		timed, timedEnds := run(true)
		looped, loopedEnds := run(false)
		wantTimes(t, timedEnds, loopedEnds...)
		for r := range timed {
			wantTimes(t, timed[r][:], looped[r][:]...)
		}
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}

// exercise is a program of many kinds of messages. It logs what each rank sees.
func exercise(c mpi.Communicator) (string, error) {
	rank, n := c.Rank(), c.Size()
	clock := c.(mpi.Clock)
	log := ""
	set := c.(mpi.NonBlocking).NewRequests()
	for k := 1; k < 5; k++ {
		size := 1 << (4 * k)
		out, in := make([]byte, size), make([]byte, size)
		if err := errors.Join(set.Isend(out, (rank+k)%n, k), set.Irecv(in, (rank+n-k)%n, k), set.WaitAll()); err != nil {
			return "", err
		}
		log += fmt.Sprintf("%.12f ", clock.Now())
	}
	part, err := c.(mpi.Splitter).Split(rank%3, -rank)
	if err != nil {
		return "", err
	}
	if err := binomial(part, make([]byte, 100000)); err != nil {
		return "", err
	}
	samples := make([]float64, 2)
	if peer := rank ^ 1; peer < n {
		if err := c.(mpi.Timed).PingPong(samples, peer, 1, 1000, 2, rank < peer); err != nil {
			return "", err
		}
	}
	return log + fmt.Sprintf("%.12f %.12f", samples, clock.Now()), nil
}

func TestTimesAreTheSameOnEveryRun(t *testing.T) {
	g := graphOf(t, "tree:[3,5,2]x3 rate=1Gbps spread=10% seed=1")
	s := &simnet.Settings{
		Send: simnet.Overhead{Seconds: 1e-6}, Recv: simnet.Overhead{Seconds: 1e-6}, Seed: 7,
		Noise: simnet.Noise{Sigma: 0.03, Outliers: 0.02}, Sharing: contention.Sharing{Coupling: 1, AckWeight: 0.05},
	}
	run := func() string {
		logs := make([]string, g.Hosts())
		if err := simnet.Run(g, nil, s, func(c mpi.Communicator) (err error) {
			logs[c.Rank()], err = exercise(c)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(logs, "\n")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := run()
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for range 3 {
			if got := run(); got != want {
				t.Fatalf("GOMAXPROCS %d: the log differs:\n%s\nwant\n%s", procs, got, want)
			}
		}
	}
	s.Seed = 8
	if run() == want {
		t.Error("another seed of the noise gives the same log")
	}
}

// Outliers and sigma of a latency, by many messages one after the other.
func TestNoiseHasTheStatedSize(t *testing.T) {
	g := graphOf(t, "star:2")
	const messages = 5000
	gaps, others := make([]float64, messages), make([]float64, messages)
	s := &simnet.Settings{ClockCost: -1, Noise: simnet.Noise{Sigma: 0.05, Outliers: 0.02}}
	finish(t, g, nil, s, func(c mpi.Communicator) error {
		if c.Rank() == 0 {
			return c.(mpi.Timed).PingPong(gaps, 1, 0, 0, 1, true)
		}
		return c.(mpi.Timed).PingPong(others, 0, 0, 0, 1, false)
	})
	for i := range gaps {
		gaps[i] /= 20e-6 // a round trip has two messages of 10 us
	}
	slices.Sort(gaps)
	// The sum of two has a standard deviation of 0.05/sqrt 2 = 0.0354, its
	// quartiles lie 0.6745 of it off, moved a little by the 4 % of outliers.
	for q, want := range map[float64]float64{0.25: 1 - 0.0238, 0.5: 1, 0.75: 1 + 0.0238} {
		if got := gaps[int(q*messages)]; math.Abs(got-want) > 0.006 {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	k, _ := slices.BinarySearch(gaps, 1.2)
	if share := 1 - float64(k)/messages; math.Abs(share-0.04) > 0.01 {
		t.Errorf("%g of the round trips have an outlier, want 0.04", share)
	}
}

// Of many messages that leave at once the first also moves first, whatever noise each has, as over one connection: it is there within
// its route's 10 us, its own 0.8 us and the most that noise adds, half of both. Of those that overtake each other it would be
// somewhere in the middle of 80 us.
func TestNoiseLetsNoMessageOvertake(t *testing.T) {
	const messages = 100
	buf := make([]byte, 1000)
	for seed := range uint64(20) {
		s := &simnet.Settings{ClockCost: -1, Noise: simnet.Noise{Sigma: 0.1}, Seed: seed}
		var first float64
		got := finish(t, graphOf(t, "star:2"), nil, s, func(comm mpi.Communicator) error {
			for i := range messages {
				if comm.Rank() == 0 {
					if err := comm.Send(buf, 1, 0); err != nil {
						return err
					}
					continue
				}
				if err := comm.Recv(buf, 0, 0); err != nil {
					return err
				}
				if i == 0 {
					first = comm.(mpi.Clock).Now()
				}
			}
			return nil
		})
		const alone = 10.8e-6
		if most := 1.5 * alone; first > most || got[1] > most+(messages-1)*0.8e-6+1e-12 {
			t.Errorf("seed %d: the first is there after %g s, all after %g: want at most %g and %g", seed, first, got[1], most, most+(messages-1)*0.8e-6)
		}
	}
}

// By hand: routes of 10 us, and 1000 B take 0.8 us of a link. The receiver asks for the first of two messages at 100 us and for the
// second when that is there. They have waited for it, or, by default, on the way, where they shared the link.
func TestUnexpectedMessagesMayBeKept(t *testing.T) {
	buf := make([]byte, 1000)
	for _, c := range []struct {
		kept bool
		want [2]float64 // sender, receiver
	}{{false, [2]float64{0, 100e-6}}, {true, [2]float64{0, 100e-6 + 2*10.8e-6}}} {
		got := finish(t, graphOf(t, "star:2"), nil, &simnet.Settings{KeepUnexpected: c.kept}, func(comm mpi.Communicator) error {
			if comm.Rank() == 0 {
				return errors.Join(comm.Send(buf, 1, 0), comm.Send(buf, 1, 0))
			}
			comm.(*simnet.Comm).Sleep(100e-6)
			return errors.Join(comm.Recv(buf, 0, 0), comm.Recv(buf, 0, 0))
		})
		wantTimes(t, got, c.want[0], c.want[1])
	}
}
