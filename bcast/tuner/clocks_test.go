package tuner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// skewed is a communicator whose clock is off.
type skewed struct {
	mpi.Communicator
	ahead float64
}

func (s skewed) Now() float64 { return s.Communicator.(mpi.Clock).Now() + s.ahead }

// Clocks of hosts are hours apart, as monotonic clocks are; those of the ranks of a host are one,
// or off as well. Whatever the tree, what a rank adds is right within the doubt.
func TestClocksAreSeenThrough(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts []int
		ahead func(rank int) float64
		one   bool
	}{
		{"each rank has its own", []int{0, 1, 2, 3, 4, 5, 6}, func(rank int) float64 { return 1e4 * float64(rank) }, false},
		{"one per host", []int{3, 5, 3, 5, 3, 5, 8}, func(rank int) float64 { return []float64{1e4, 2e4, 1e4, 2e4, 1e4, 2e4, 5}[rank] }, false},
		{"hosts are said to have one, and have not", nil, func(rank int) float64 { return -1e4 * float64(rank) }, false},
		{"one for all", []int{0, 1, 2, 3, 4, 5, 6}, func(int) float64 { return 0 }, true},
		{"nothing is known of hosts", nil, func(int) float64 { return 7 }, true},
		{"one host is off", []int{0, 0, 0, 1, 1, 0, 0}, func(rank int) float64 { return []float64{0, 0, 0, 3, 3, 0, 0}[rank] }, false},
	} {
		err := local.Run(7, nil, func(world mpi.Communicator) error {
			rank := world.Rank()
			var hosts []int
			if rank == 0 {
				hosts = c.hosts
			}
			w, err := NewStopwatch(skewed{world, c.ahead(rank)}, 1, hosts, true)
			if err != nil {
				return err
			}
			if (w.Doubt() == 0) != c.one || w.clocks.one != c.one {
				return fmt.Errorf("doubt %g s, one clock: %v", w.Doubt(), w.clocks.one)
			}
			truth := c.ahead(0) - c.ahead(rank)
			if off := math.Abs(w.clocks.ahead - truth); off > w.Doubt()+1e-9 {
				return fmt.Errorf("rank %d: clock off by %g s, more than the doubt of %g", rank, off, w.Doubt())
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The tree reaches every rank once, its ranks of a host below their lowest, in steps that grow as
// the logarithm of the hosts and of the ranks of a host.
func TestTreeOfClocks(t *testing.T) {
	for _, hosts := range [][]int{{0}, {0, 0}, {0, 1}, {4, 4, 2, 2, 4, 1, 2, 4}, make([]int, 33)} {
		n := len(hosts)
		parents, children := make([]int, n), make([][]int, n)
		for rank := range n {
			c := &clocks{comm: placed(rank)}
			c.join(hosts)
			parents[rank], children[rank] = c.parent, c.children
			if c.parent >= 0 && c.near != (hosts[c.parent] == hosts[rank]) {
				t.Errorf("%v: rank %d near %v", hosts, rank, c.near)
			}
			if lowest := slices.Index(hosts, hosts[rank]); lowest != rank && !c.near {
				t.Errorf("%v: rank %d asks another host", hosts, rank)
			}
		}
		reached := 0
		var visit func(rank int)
		visit = func(rank int) {
			reached++
			for _, c := range children[rank] {
				if parents[c] != rank {
					t.Errorf("%v: rank %d has the parent %d, but %d answers it", hosts, c, parents[c], rank)
				}
				visit(c)
			}
		}
		visit(0)
		if reached != n || parents[0] != -1 {
			t.Errorf("%v: %d ranks reached of %d", hosts, reached, n)
		}
	}
}

// placed is a rank that has a number and nothing else.
type placed int

func (p placed) Rank() int                 { return int(p) }
func (placed) Size() int                   { return 0 }
func (placed) Send([]byte, int, int) error { return errors.New("nobody is there") }
func (placed) Recv([]byte, int, int) error { return errors.New("nobody is there") }

// 64 hosts of 4 cores, 20 us apart: 8 round trips on each of 6 steps between hosts, and what is within hosts
// and tells the outcome up and down the ranks. From one rank to all it took 255 times 8.
func TestComparingClocksTakesLogarithmicTime(t *testing.T) {
	const ranks = 256
	cluster, err := gen.Parse("tree:64x4 latency=10us,0.2us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	hosts := make([]int, ranks)
	for i := range hosts {
		hosts[i] = i / 4
	}
	took := 0.0
	report, err := simnet.Simulate(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
		w, err := NewStopwatch(comm, 1, hosts, false)
		if err != nil || !w.clocks.one {
			return fmt.Errorf("%v, one clock: %v", err, w.clocks.one)
		}
		begin := w.Now()
		if err := w.clocks.compare(); err != nil {
			return err
		}
		if comm.Rank() == 0 {
			took = w.Now() - begin
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const hop = 2 * 10.2e-6 // s from core to core: up to the switch and down
	if most := (6*8*2 + 2*6 + 2) * hop; took > most {
		t.Errorf("%g s, want at most %g", took, most)
	}
	if report.Messages > 2*ranks*(8*2+4) {
		t.Errorf("%d messages", report.Messages)
	}
}

// Clocks of hosts are compared again when they may have drifted apart by as much as is doubtful anyway, at 0.1 ms per
// second, and not before.
func TestClocksAreComparedAgainWhenTheyMayHaveDrifted(t *testing.T) {
	cluster, err := gen.Parse("star:3 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
		w, err := NewStopwatch(skewed{comm, 1000 * float64(comm.Rank())}, 1, []int{0, 1, 2}, false)
		if err != nil {
			return err
		}
		for _, c := range []struct {
			wait  float64 // s, as a share of that in which clocks drift apart by the doubt
			again bool
		}{{0, false}, {0.5, false}, {1, true}, {0.5, false}} {
			at := w.clocks.at
			comm.(*simnet.Comm).Sleep(c.wait * w.Doubt() / 1e-4)
			round := Round{Variants: numbered(0)}
			if _, err := w.round(round, func(Variant, Round) (Sample, error) { return Sample{}, nil }); err != nil {
				return err
			}
			if again := w.clocks.at != at; again != c.again {
				return fmt.Errorf("rank %d: compared again after %g of the time: %v, want %v", comm.Rank(), c.wait, again, c.again)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A part keeps the clocks of the whole: they differ, and its communicator does not tell any.
func TestStopwatchAmongAPart(t *testing.T) {
	cluster, err := gen.Parse("star:5 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
		simulated := comm.(*simnet.Comm)
		w, err := NewStopwatch(skewed{comm, 1000 * float64(comm.Rank())}, 1, []int{0, 1, 2, 3, 4}, false)
		if err != nil {
			return err
		}
		part, err := simulated.Split(comm.Rank()%2, -comm.Rank()) // 4, 2, 0; 3, 1
		if err != nil {
			return err
		}
		s, err := w.Among(struct{ mpi.Communicator }{part}).Time(func(root int) error {
			err := share.Binomial(part, root, 2).Tell(make([]byte, 1))
			if part.Rank() == 0 {
				simulated.Sleep(5e-3)
			}
			return err
		}, 1)
		if first := comm.Rank() >= 3; err == nil && (first && !(math.Abs(s.Cold-5e-3) < 150e-6+w.Doubt()) || !first && !math.IsNaN(s.Cold)) {
			return fmt.Errorf("rank %d: %v within %g s, want 5 ms on the first rank", comm.Rank(), s, w.Doubt())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A batch takes the time of its broadcasts, the first alone the time of one, from any root and on
// clocks that differ; what ranks do before and after does not count.
func TestStopwatch(t *testing.T) {
	cluster, err := gen.Parse("star:5 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	for _, skew := range []float64{0, 1000} {
		err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			simulated := comm.(*simnet.Comm)
			w, err := NewStopwatch(skewed{comm, skew * float64(comm.Rank())}, 1, []int{0, 1, 2, 3, 4}, false)
			if err != nil {
				return err
			}
			w.rest = func() { simulated.Sleep(1e-3) }
			for _, roots := range [][]int{{0}, {3}, {2, 1, 0}, {4, 4, 4, 4}} {
				simulated.Sleep(1e-3 * float64(comm.Rank()))
				calls := 0
				s, err := w.Time(func(root int) error {
					if calls++; root != roots[calls-1] {
						return fmt.Errorf("root %d", root)
					}
					err := share.Binomial(comm, root, 2).Tell(make([]byte, 1))
					// Rank 1 is the last to have it, 5 ms after the root has begun, and then 1 ms per broadcast.
					if comm.Rank() == 1 {
						simulated.Sleep(1e-3)
						if calls == 1 {
							simulated.Sleep(4e-3)
						}
					}
					return err
				}, roots...)
				if err != nil {
					return err
				}
				if comm.Rank() > 0 {
					if !math.IsNaN(s.Cold) || !math.IsNaN(s.Hot) {
						return fmt.Errorf("rank %d: %v", comm.Rank(), s)
					}
					continue
				}
				n := float64(len(roots))
				within := n*150e-6 + w.Doubt() // the messages take some time, too
				if cold, all := 5e-3, 5e-3+(n-1)*1e-3; math.Abs(s.Cold-cold) > within || math.Abs(s.Hot*n-all) > within {
					return fmt.Errorf("skew %g, roots %v: %v, want %g and %g, within %g", skew, roots, s, cold, all/n, within)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Where messages take as long in both directions, clocks are known far better than the doubt says: to a twentieth of a message's
// time.
func TestClocksOfEqualPaths(t *testing.T) {
	cluster, err := gen.Parse("star:5 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
		w, err := NewStopwatch(skewed{comm, 1000 * float64(comm.Rank())}, 1, []int{0, 1, 2, 3, 4}, false)
		if err != nil {
			return err
		}
		if off := math.Abs(w.clocks.ahead + 1000*float64(comm.Rank())); off > 2e-6 {
			return fmt.Errorf("rank %d: clock off by %g s", comm.Rank(), off)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
