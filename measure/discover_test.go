package measure_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// simulate runs work on one rank per host of a generated cluster.
func simulate(t *testing.T, spec string, s *simnet.Settings, work func(mpi.Communicator) error) {
	t.Helper()
	cluster, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := simnet.Run(cluster.Graph, nil, s, work); err != nil {
		t.Fatal(err)
	}
}

// hollowAbove is the size in B above which simulated messages of these tests carry
// nothing: Discover's long ones, whose time counts.
const hollowAbove = 256<<10 - 1

// discovered is Discover on a simulated cluster.
func discovered(t *testing.T, spec string, world *simnet.Settings, s *measure.DiscoverSettings) *measure.Discovery {
	t.Helper()
	var found *measure.Discovery
	if world == nil {
		world = &simnet.Settings{}
	}
	world.HollowAbove = hollowAbove
	simulate(t, spec, world, func(c mpi.Communicator) error {
		var own *measure.DiscoverSettings
		if c.Rank() == 0 { // whose settings count
			own = s
		}
		d, err := measure.Discover(context.Background(), c, own)
		if d != nil {
			if c.Rank() != 0 {
				return errors.New("a rank other than 0 has a result")
			}
			found = d
		}
		return err
	})
	return found
}

// TestDiscoverFindsTheSimulatedMachine: three racks of four hosts; a message
// between racks crosses links of 2, 10, 10 and 2 us, and 1 MiB takes 839 us at 1.25 GB/s.
func TestDiscoverFindsTheSimulatedMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	parts := make(map[string]int)
	date := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	d := discovered(t, "tree:3x4 latency=10us,2us rate=10Gbps", nil, &measure.DiscoverSettings{
		Sampling: measure.Sampling{Repetitions: 2, Samples: 5},
		Measured: model.Metadata{Date: date.Format(time.RFC3339)},
		Record:   record.NewWriter(&file, nil),
		Control:  harness.Control{Progress: func(p measure.Progress) { parts[p.Part+" "+p.Units]++ }},
	})
	recorded, err := measure.ReadResult(&file)
	if err != nil {
		t.Fatal(err)
	}
	if kept := len(recorded.Measurements()); kept != 2*12*11 || len(d.Latencies.Measurements()) != kept || len(d.Bandwidths.Measurements()) == 0 || recorded.Date != date {
		t.Errorf("%d measurements of latencies were recorded, on %v, %d are in the result; %d of bandwidths",
			kept, recorded.Date, len(d.Latencies.Measurements()), len(d.Bandwidths.Measurements()))
	}
	if parts["latencies rounds"] == 0 || parts["bandwidths rounds"] == 0 || parts["uplinks steps"] == 0 || parts["concurrent transfers patterns"] == 0 {
		t.Errorf("progress of parts: %v", parts)
	}
	if got := d.Topology.Hierarchy.GroupsAt(0); len(got) != 3 {
		t.Errorf("%d groups, want 3", len(got))
	}
	m := d.Network.Measured()
	if m.Date != "2026-11-21T00:00:00Z" || m.Tool != "measure.Discover" || m.Bytes != 8 {
		t.Errorf("network says of itself %+v", m)
	}
	for _, c := range []struct {
		src, dst int
		bytes    int64
		want     float64
	}{{0, 1, 8, 4e-6}, {0, 11, 8, 24e-6}, {0, 11, 1 << 20, 24e-6 + float64(1<<20)/1.25e9}} {
		// Long messages also ask for consent, which crosses twice.
		if got := d.Network.Time(c.src, c.dst, c.bytes); got < 0.99*c.want || got > 1.08*c.want {
			t.Errorf("Time(%d, %d, %d) = %g s, want about %g", c.src, c.dst, c.bytes, got, c.want)
		}
	}
}

// TestDiscoverMeasuresTheOverhead: of a row of messages each takes what the software of the sender
// takes, if the receiver's takes less, and the levels get that; but a message whose way takes 4 us
// cannot have spent more than 2 of them at either end.
func TestDiscoverMeasuresTheOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, c := range []struct{ send, recv, want, near float64 }{
		{1e-6, 0.5e-6, 1e-6, 1e-6},
		{0.5e-6, 3e-6, 3e-6, 3e-6},
		{8e-6, 0, 8e-6, 6e-6}, // 8 and 4 us from end to end
	} {
		world := &simnet.Settings{Send: simnet.Overhead{Seconds: c.send}, Recv: simnet.Overhead{Seconds: c.recv}}
		d := discovered(t, "tree:2x2 latency=10us,2us rate=10Gbps", world, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 3}, Patterns: -1})
		if math.Abs(d.Overhead-c.want) > 0.05*c.want {
			t.Errorf("overheads of %g and %g s: measured %g, want %g", c.send, c.recv, d.Overhead, c.want)
		}
		if l := d.Network.Levels()[0]; len(l.Send) != len(l.Sizes) || math.Abs(l.Send[0]-c.near) > 0.05*c.near || l.Recv[0] != l.Send[0] {
			t.Errorf("overheads of %g and %g s: the nearest level has %v and %v, want %g", c.send, c.recv, l.Send, l.Recv, c.near)
		}
	}
}

// A perPacket communicator takes messages that follow each other to the same rank together, as TCP and libraries
// do: one to another rank than the last takes its sender longer.
type perPacket struct {
	mpi.Communicator
	mpi.Clock
	sleep func(seconds float64)
	last  int
}

const packetCost = 2e-6 // s

func (c *perPacket) Send(buf []byte, dst, tag int) error {
	if dst != c.last {
		c.sleep(packetCost)
		c.last = dst
	}
	return c.Communicator.Send(buf, dst, tag)
}

// TestOverheadIsThatOfSendsToDifferentRanks: what a root pays that serves one after the other.
func TestOverheadIsThatOfSendsToDifferentRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const send = 1e-6
	world := &simnet.Settings{Send: simnet.Overhead{Seconds: send}, HollowAbove: hollowAbove}
	simulate(t, "tree:2x2 latency=10us,2us rate=10Gbps", world, func(c mpi.Communicator) error {
		own := &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 3}, Patterns: -1}
		sim := c.(*simnet.Comm)
		d, err := measure.Discover(context.Background(), &perPacket{sim, sim, sim.Sleep, -1}, own)
		if d != nil && math.Abs(d.Overhead-send-packetCost) > 0.05*(send+packetCost) {
			t.Errorf("overhead = %g s, want %g", d.Overhead, send+packetCost)
		}
		return err
	})
}

// TestDiscoverErrorsAreOnAllRanks: what goes wrong on rank 0 between the
// messages leaves no rank waiting.
func TestDiscoverErrorsAreOnAllRanks(t *testing.T) {
	cause := errors.New("no wiring can be found")
	for _, c := range []struct {
		settings measure.DiscoverSettings
		want     string
	}{
		{measure.DiscoverSettings{Reconstructor: fails{cause}}, "no wiring can be found"},
		{measure.DiscoverSettings{Control: harness.Control{Budget: -time.Second}}, "measure: DiscoverSettings.Budget: -1s"},
		{measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: -1}}, "Settings.Repetitions: -1"},
	} {
		said := make([]string, 3)
		err := local.Run(3, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
			s := c.settings
			if comm.Rank() != 0 {
				s = measure.DiscoverSettings{Control: harness.Control{Budget: -time.Hour}} // does not count
			}
			d, err := measure.Discover(context.Background(), comm, &s)
			if err != nil {
				said[comm.Rank()] = err.Error()
			}
			if measured := c.settings.Reconstructor != nil && comm.Rank() == 0; measured != (d != nil) || measured && len(d.Latencies.Measurements()) == 0 {
				t.Errorf("rank %d: %+v, want the latencies on rank 0 if they were measured", comm.Rank(), d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, text := range said {
			if !strings.Contains(text, c.want) {
				t.Errorf("rank %d: error %q, want %q", rank, text, c.want)
			}
		}
	}
}

// fails is a reconstructor that does.
type fails struct{ cause error }

func (f fails) Reconstruct(...mat.Matrix) (*topology.Result, error) { return nil, f.cause }

// TestDiscoverSaysThatNothingWasMeasured: where the budget or the context ends
// before the first round there is nothing to make a network of, and the error says
// why on all ranks. A round trip takes 24 ms, and the warm-up many of them.
func TestDiscoverSaysThatNothingWasMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		budget time.Duration
		want   string
	}{
		{context.Background(), 100 * time.Millisecond, "measure: discover: the budget of 100ms ended before the first of 9 rounds was measured: give it a larger one"},
		{cancelled, 0, "measure: discover: cancelled before the first of 9 rounds was measured"},
	} {
		said := make([]string, 4)
		simulate(t, "tree:2x2 latency=10ms,2ms", nil, func(comm mpi.Communicator) error {
			d, err := measure.Discover(c.ctx, comm, &measure.DiscoverSettings{Control: harness.Control{Budget: c.budget}})
			if err != nil {
				said[comm.Rank()] = err.Error()
			}
			if d != nil && len(d.Latencies.Measurements()) > 0 {
				t.Error("there are measurements where none was made")
			}
			return nil
		})
		for rank, text := range said {
			if text != c.want {
				t.Errorf("rank %d: error %q, want %q", rank, text, c.want)
			}
		}
	}
}

// TestDiscoverAsksForMoreWhereTooLittleWasMeasured: where the budget ends after rounds that leave the ranks in
// parts, or before few pairs tell anything, the error says what would help, the same on all ranks. Which
// budgets do so follows from the machine: some of those that end between the first round and the last.
func TestDiscoverAsksForMoreWhereTooLittleWasMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, c := range []struct {
		pairs         measure.Choice
		begin, ending string
	}{
		{measure.AsNeeded, "measure: discover: the budget of ", " nothing was measured between parts of the hosts: give it a larger one"},
		{measure.FewPairs, "adaptive: ", " no time left: give it a larger budget"},
	} {
		met := false
		for budget := 10 * time.Millisecond; budget <= 60*time.Millisecond && !met; budget += 500 * time.Microsecond {
			said := make([]string, 32)
			simulate(t, "tree:8x4 latency=5us,5us", nil, func(comm mpi.Communicator) error {
				s := &measure.DiscoverSettings{Control: harness.Control{Budget: budget}, Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Pairs: c.pairs}
				if _, err := measure.Discover(context.Background(), comm, s); err != nil {
					said[comm.Rank()] = err.Error()
				}
				return nil
			})
			if said[0] == "" || strings.Contains(said[0], "before the first of") {
				continue
			}
			met = true
			for rank, text := range said {
				if !strings.HasPrefix(text, c.begin) || !strings.HasSuffix(text, c.ending) || text != said[0] {
					t.Fatalf("budget %v, rank %d: error %q, want %q ...%q", budget, rank, text, c.begin, c.ending)
				}
			}
		}
		if !met {
			t.Errorf("pairs %d: no budget was too small", c.pairs)
		}
	}
}

// TestABudgetThatNothingFitsIsAnnounced: where neither repetitions nor samples
// can be spared, the budget is called too small at the start all the same, once,
// with what would be enough: 63 rounds of 5 round trips of 24 to 48 us both ways,
// and as much as 10 again for the rest, take 50 to 140 ms.
func TestABudgetThatNothingFitsIsAnnounced(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	simulate(t, "tree:4x16 latency=10us,2us", nil, func(c mpi.Communicator) error {
		var told []string
		rounds := 0
		r, err := measure.Run(context.Background(), c, &measure.Settings{
			Sampling: measure.Sampling{Repetitions: 1, Samples: 5},
			Control:  harness.Control{Budget: 30 * time.Millisecond, Notify: func(note string) { told = append(told, fmt.Sprintf("%s (after %d rounds)", note, rounds)) }, Progress: func(p measure.Progress) { rounds = p.Done }},
		})
		if r == nil {
			return err
		}
		if len(told) != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "too small for 1 repetition of 5 samples, which need about ") {
			t.Fatalf("told %q, notes %q, want once that the budget is too small", told, r.Notes)
		}
		text := strings.Fields(strings.SplitAfter(r.Notes[0], "need about ")[1])[0]
		need, failed := time.ParseDuration(strings.TrimSuffix(text, ":"))
		if failed != nil || need < 50*time.Millisecond || need > 140*time.Millisecond {
			t.Errorf("it needs %q (%v), want 50 to 140 ms", text, failed)
		}
		if !strings.HasSuffix(told[0], "(after 3 rounds)") || r.Stopped != harness.StoppedByBudget {
			t.Errorf("told %q, stopped by %q, want after 3 rounds and by the budget", told[0], r.Stopped)
		}
		return err
	})
}

// TestBudgetsGoByTheSimulatedClock: a budget ends a simulation at the same
// round each time, and with all of a plan that fits into its virtual time: of
// 20 samples of round trips of 48 us both ways, a round takes 2 ms, a warm-up
// 19 ms.
func TestBudgetsGoByTheSimulatedClock(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	var first []byte
	for range 3 {
		var b bytes.Buffer
		simulate(t, "tree:2x4 latency=10us,2us", nil, func(c mpi.Communicator) error {
			r, err := measure.Run(context.Background(), c, &measure.Settings{Sampling: measure.Sampling{Repetitions: 1000}, Control: harness.Control{Budget: 100 * time.Millisecond}})
			if r != nil {
				used := c.(mpi.Clock).Now()
				if r.Stopped != "" || r.Rounds != 21 || r.TotalRounds != 21 || used < 0.08 || used > 0.1 {
					t.Errorf("stopped by %q after %d of %d rounds and %g s, want all of 21 within 0.1 s", r.Stopped, r.Rounds, r.TotalRounds, used)
				}
				if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "too small for 1000 repetitions of 20 samples, which need about 3") || r.Warnings[0] != r.Notes[0] {
					t.Errorf("notes %q, warnings %q", r.Notes, r.Warnings)
				}
				err = r.Write(&b)
			}
			return err
		})
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("the same simulation gives other bytes")
		}
	}
}

// TestRunClosesItsDuplicate, also where it returns an error.
func TestRunClosesItsDuplicate(t *testing.T) {
	for _, s := range []measure.Settings{{Sampling: measure.Sampling{Samples: 5}}, {Sampling: measure.Sampling{Samples: -1}}} {
		err := local.Run(2, nil, func(c mpi.Communicator) error {
			d := &duplicated{Communicator: c}
			_, _ = measure.Run(context.Background(), d, &s)
			if d.made != 1 || d.closed != 1 {
				t.Errorf("Samples %d: %d duplicates made, %d closed", s.Samples, d.made, d.closed)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// duplicated counts its duplicates.
type duplicated struct {
	mpi.Communicator
	made, closed int
}

func (d *duplicated) Split(color, key int) (mpi.Communicator, error) {
	if color != 0 || key != d.Rank() {
		return nil, errors.New("not needed")
	}
	d.made++
	return &duplicate{d.Communicator, d}, nil
}

type duplicate struct {
	mpi.Communicator
	of *duplicated
}

func (d *duplicate) Close() error {
	d.of.closed++
	return nil
}

// TestFewPairsAreReadAgain: the file of few pairs, of which no means are kept, is one that ReadResult takes.
func TestFewPairsAreReadAgain(t *testing.T) {
	simulate(t, "tree:4x4 latency=5us,5us", &simnet.Settings{HollowAbove: hollowAbove}, func(comm mpi.Communicator) error {
		var file bytes.Buffer
		d, err := measure.Discover(context.Background(), comm, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Pairs: measure.FewPairs, Patterns: -1})
		if d == nil || err != nil {
			return err
		}
		if err := d.Latencies.Write(&file); err != nil {
			return err
		}
		again, err := measure.ReadResult(&file)
		if err != nil || len(again.Measurements()) != len(d.Latencies.Measurements()) {
			t.Errorf("%d measurements are read as %v, %v", len(d.Latencies.Measurements()), again, err)
		}
		return nil
	})
}

// TestDiscoverOfOneRank: a job of one rank has a network, also where parameters of pairs are asked for.
func TestDiscoverOfOneRank(t *testing.T) {
	for name, s := range map[string]measure.DiscoverSettings{
		"as needed": {}, "two levels": {Pairs: measure.TwoLevels}, "parameters": {View: &plogp.View{}},
	} {
		err := local.Run(1, nil, func(c mpi.Communicator) error {
			d, err := measure.Discover(t.Context(), c, &s)
			if err == nil && d.Network.Ranks() != 1 {
				t.Errorf("%s: network of %d ranks", name, d.Network.Ranks())
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
