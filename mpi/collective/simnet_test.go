package collective

import (
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// took is the virtual time in s of run, from when all ranks are there until the last one returns, on ranks in shuffled
// order; ranks and graph are those of the text. Groups are the true ones of the level, with groups.
func took(t *testing.T, text string, grouped bool, costs Costs, run func(c *Comm) error) float64 {
	t.Helper()
	cluster, err := gen.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	placement, err := simnet.Placement("shuffled:3", cluster.Graph.Hosts(), cluster.Graph, cluster.Hierarchy, cluster.Node)
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Costs: costs}
	if grouped {
		for _, g := range cluster.Hierarchy.GroupsAt(len(cluster.Hierarchy.Levels()) - 1) {
			var ranks []int
			for _, host := range g.Hosts {
				ranks = append(ranks, slices.Index(placement, host))
			}
			s.Groups = append(s.Groups, ranks)
		}
	}
	ends := make([]float64, len(placement))
	begin := 0.0
	err = simnet.Run(cluster.Graph, placement, &simnet.Settings{Send: simnet.Overhead{Seconds: 1e-6}, Recv: simnet.Overhead{Seconds: 1e-6}}, func(comm mpi.Communicator) error {
		c, err := New(comm, s)
		if err != nil {
			return err
		}
		clock := comm.(*simnet.Comm)
		clock.Sleep(0.1 - clock.Now()) // all begin at once
		begin = 0.1
		if err := run(c); err != nil {
			return err
		}
		ends[comm.Rank()] = clock.Now()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Max(ends) - begin
}

// A collective of n float64 per rank, or of as many in all.
var collectives = []struct {
	name string
	run  func(c *Comm, n int) error
	gain float64 // at least, of groups on racks, where messages are short
}{
	{"Barrier", func(c *Comm, _ int) error { return Barrier(c) }, 1.2},
	{"Allreduce", func(c *Comm, n int) error { return Allreduce(c, make([]float64, n), mpi.Sum) }, 1.2},
	{"Reduce", func(c *Comm, n int) error { return Reduce(c, make([]float64, n), mpi.Sum, 3) }, 1.2},
	{"Gather", func(c *Comm, n int) error {
		n = n/c.Size() + 1
		return Gather(c, make([]float64, n*c.Size()), make([]float64, n), 3)
	}, 1},
	{"Scatter", func(c *Comm, n int) error {
		n = n/c.Size() + 1
		return Scatter(c, make([]float64, n), make([]float64, n*c.Size()), 3)
	}, 1},
	{"Allgather", func(c *Comm, n int) error {
		n = n/c.Size() + 1
		return Allgather(c, make([]float64, n*c.Size()), make([]float64, n))
	}, 1.2},
}

// Ranks in any order on four racks: a message between racks takes 25 times as long as one within, and a
// dissemination barrier, say, has one in each of its four rounds, the one along groups in two.
func TestGroupsOfTheWiringGain(t *testing.T) {
	const racks = "tree:4x4 latency=25us,1us rate=1Gbps,1Gbps"
	costs := Costs{Latency: 50e-6, PerByte: 8e-9} // of messages between racks
	for _, x := range collectives {
		for _, n := range []int{1, 2000, 60_000} {
			run := func(c *Comm) error { return x.run(c, n) }
			flat, along := took(t, racks, false, costs, run), took(t, racks, true, costs, run)
			least := 0.99
			if n == 1 {
				least = x.gain
			}
			t.Logf("%-9s of %5d: %6.0f us, along groups %6.0f us", x.name, n, flat*1e6, along*1e6)
			if flat < least*along {
				t.Errorf("%s of %d: %g s along groups, %g s without", x.name, n, along, flat)
			}
		}
	}
}

// The rule takes, at every size, an algorithm that is nearly the best of all, though none is at all sizes: on
// 12 ranks recursive doubling is for short lists and a ring for long ones, and on 16, which need no folding, halving
// and doubling. By LogGP, Bruck's Alltoall of 500 float64 takes 4 rounds of 7 us + 1.6 us, pairwise exchange 15 of 7.2 us.
func TestAlgorithmsSwitchByCosts(t *testing.T) {
	for _, x := range []struct {
		name string
		best []int // by size
		run  []func(c *Comm, n int) error
	}{
		{"star:12", []int{1, 1, 3, 3}, []func(c *Comm, n int) error{
			func(c *Comm, n int) error { return Allreduce(c, make([]float64, n), mpi.Sum) },
			func(c *Comm, n int) error { return doublingAllreduce(c, c.all.core(), make([]float64, n), sum) },
			func(c *Comm, n int) error { return halvingAllreduce(c, c.all.core(), make([]float64, n), sum) },
			func(c *Comm, n int) error { return ringAllreduce(c, c.all, make([]float64, n), sum) },
		}},
		{"star:16", []int{1, 1, 2, 2}, []func(c *Comm, n int) error{
			func(c *Comm, n int) error { return Allreduce(c, make([]float64, n), mpi.Sum) },
			func(c *Comm, n int) error { return doublingAllreduce(c, c.all.core(), make([]float64, n), sum) },
			func(c *Comm, n int) error { return halvingAllreduce(c, c.all.core(), make([]float64, n), sum) },
			func(c *Comm, n int) error { return ringAllreduce(c, c.all, make([]float64, n), sum) },
		}},
		{"star:16", []int{1, 1, 2, 2}, []func(c *Comm, n int) error{
			func(c *Comm, n int) error { return Reduce(c, make([]float64, n), mpi.Sum, 0) },
			func(c *Comm, n int) error {
				_, err := binomialReduce(c, c.all, make([]float64, n), true, sum)
				return err
			},
			func(c *Comm, n int) error {
				return halvingReduce(c, c.all.core(), make([]float64, n), make([]float64, n), sum)
			},
		}},
		{"star:16", []int{1, 1, 2, 2}, []func(c *Comm, n int) error{
			func(c *Comm, n int) error { return Alltoall(c, make([]float64, n/16*16), make([]float64, n/16*16)) },
			func(c *Comm, n int) error {
				return c.bruckAlltoall(make([]byte, n/16*128), make([]byte, n/16*128), n/16*8)
			},
			func(c *Comm, n int) error {
				o := c.offsetsOf(c.equalCounts(n / 16 * 8))
				return c.pairwise(make([]byte, n/16*128), o, make([]byte, n/16*128), o)
			},
		}},
	} {
		for i, n := range []int{16, 500, 20_000, 60_000} {
			times := make([]float64, len(x.run))
			for k, run := range x.run {
				times[k] = took(t, x.name+" latency=2.5us rate=10Gbps", false, Costs{Latency: 5e-6, Overhead: 1e-6, PerByte: 0.8e-9}, func(c *Comm) error { return run(c, n) })
			}
			best := slices.Min(times[1:])
			t.Logf("%s, %d: %.0f us", x.name, n, scaled(times))
			if times[0] > 1.1*best || times[x.best[i]] > best {
				t.Errorf("%s, %d: chosen %g s, of the algorithms %g: want number %d to be the best, and the chosen within 10 %%", x.name, n, times[0], times[1:], x.best[i])
			}
		}
	}
}

// Where messages within groups cost what those between cost, the way that an Allreduce takes in groups of one size is as
// good as the best of the three: short lists go by peers, in 4 messages after one another instead of 6 or 8, and long ones
// by parts, of which each rank sends 3/4 twice in its group and 1/4 twice beyond, instead of all 4 or 6 times.
func TestWaysInGroupsSwitchByCosts(t *testing.T) {
	ways := []func(c *Comm, values []float64) error{
		func(c *Comm, values []float64) error { return Allreduce(c, values, mpi.Sum) },
		func(c *Comm, values []float64) error { // by leaders
			if _, err := reduceTeam(c, c.own, values, true, sum); err != nil {
				return err
			}
			if c.own.me == 0 {
				if err := allreduceTeam(c, c.lead(), values, sum); err != nil {
					return err
				}
			}
			return c.broadcast(c.own, bytesOf(values))
		},
		func(c *Comm, values []float64) error { // by peers
			if err := allreduceTeam(c, c.own, values, sum); err != nil {
				return err
			}
			return allreduceTeam(c, c.peers, values, sum)
		},
		func(c *Comm, values []float64) error { return allreduceParts(c, values, sum) },
	}
	for _, x := range []struct{ n, best int }{{1, 2}, {300, 2}, {500, 3}, {800, 3}, {20_000, 3}} {
		times := make([]float64, len(ways))
		for i, run := range ways {
			times[i] = took(t, "tree:4x4 latency=0.1us,25us rate=1Gbps,1Gbps", true, Costs{Latency: 50e-6, PerByte: 8e-9}, func(c *Comm) error {
				return run(c, make([]float64, x.n))
			})
		}
		t.Logf("%d: %.0f us", x.n, scaled(times))
		if best := slices.Min(times[1:]); times[0] > 1.03*best || times[x.best] > best {
			t.Errorf("%d: chosen %g s, of the ways %g: want number %d to be the best, and the chosen within 3 %%", x.n, times[0], times[1:], x.best)
		}
	}
}

func scaled(times []float64) []float64 {
	us := slices.Clone(times)
	for i := range us {
		us[i] *= 1e6
	}
	return us
}

func sum(into, from []float64) { combine(mpi.Sum, into, from) }
