package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

func servetSource() source {
	return source{
		name:  "servet",
		title: "Gonzalez-Dominguez, Martin, Taboada, Exposito, Tourino 2013: The Servet 3.0 benchmark suite: characterization of network performance degradation.",
		short: "Distance, access to the network, placement (Servet 3.0)",
		long: `Servet repeats the experiments of Gonzalez-Dominguez et al., The Servet 3.0 benchmark suite: bandwidth by the
distance of hosts while all send (figure 3, ratDist), and by the number of processes of a host that use the network at
once (figure 4, ratNC); the orientation of a grid of ranks (section 6.1, figure 6); kernels like those of the NAS
benchmarks with the ranks where a scheduler puts them and where Servet's rules do (figure 7), and with fewer cores per host
(figure 8).

Kernels are the messages of CG, IS and MG with pauses instead of computation, so that MOPS are those of a machine
whose cores are as fast as is assumed.

It simulates a Cray XE6 of few hosts: a torus of hosts with two processors each, whose cores share
the processor's way to the network. The paper prints its curves as figures, which our text of it does not have: what
it says of them in words is compared.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := &servetOptions{repetitions: 3}
			cli.Parse(f, &o.sizes, "sizes", "", "sizes of messages for the ratios, by commas; default: 512KiB,2MiB simulated, 256KiB,4MiB in a job", cli.ParseSizes)
			cli.Want(f, "sizes", "at least 1 B", func() bool { return slices.Min(o.sizes) >= 1 })
			f.StringVar(&o.class, "class", "", "size of the kernels: W, A, B or C of the NAS benchmarks; default: A simulated, W in a job")
			return o
		},
	}
}

// servetOptions set the experiment.
type servetOptions struct {
	class       string
	sizes       []int
	repetitions int // of each measurement, of which the median counts
}

// A servetRun is the experiment on one machine. Of a simulated one each rank has a copy of its own, with its communicator.
type servetRun struct {
	comm        mpi.Communicator
	sizes       []int
	class       nasClass
	repetitions int
	simulated   bool
	cray        bool             // like the paper's
	perMessage  float64          // s, for which a message to another host holds its processor's access; of crayMachine alone
	budget      *allowance       // of the four parts
	scratch     *[]byte          // for messages; simulated ranks share it
	out         *outcome.Outcome // simulated ranks share it; rank 0 fills it
}

// servetParts share the budget: distances, accesses, the network, and kernels.
const servetParts = 4

// begin checks the flags. Class and sizes are the defaults.
func (o *servetOptions) begin(s *stage, class string, sizes ...int) (*servetRun, error) {
	r := &servetRun{sizes: sizes, repetitions: o.repetitions, budget: s.budget.split(servetParts), scratch: new([]byte), out: s.out}
	if o.sizes != nil {
		r.sizes = o.sizes
	}
	var err error
	r.class, err = nasClassOf(cmp.Or(o.class, class))
	return r, err
}

// simulate runs the distances on a torus of hosts with one rank each, and the rest on one of fewer hosts with
// all their cores.
func (o *servetOptions) simulate(ctx context.Context, s *stage) error {
	r, err := o.begin(s, "A", 512<<10, 2<<20) // simulated, too, each rank that takes part has two of the longest
	if err != nil {
		return err
	}
	const hosts = "4x4x4"
	few := "4x2x1"
	if s.full {
		few = hosts
	}
	r.cray = true
	r.out.Where = fmt.Sprintf("Simulated: a torus of %s hosts, of which distances take %d with one rank each, and with two processors of 16 cores, as the paper's has, for accesses; and one of %s of these for the rest. A processor's cores share %s to the network, links of the torus carry %s: assumed, the paper prints neither.",
		hosts, servetHosts, few, quantity.Rate(crayAccess), quantity.Rate(crayLink))
	if err := r.onSeveralDays(ctx, crayMachine{torus: hosts, processors: 1, cores: 1}); err != nil {
		return err
	}
	var ratios *model.Degradation
	for _, part := range []struct {
		torus string
		run   func(*servetRun) error
	}{
		{hosts, func(own *servetRun) error {
			found, err := own.accesses(ctx)
			if own.comm.Rank() == 0 {
				ratios = found
			}
			return err
		}},
		{few, func(own *servetRun) error { return own.placing(ctx, ratios) }},
	} {
		cluster, err := crayMachine{torus: part.torus, processors: 2, cores: 16}.cluster()
		if err != nil {
			return err
		}
		if err := r.on(cluster, nil, part.run); err != nil {
			return err
		}
	}
	return nil
}

const (
	servetDays  = 5  // section 5: the experiment was repeated on so many days
	servetHosts = 32 // with so many hosts, which the scheduler chose
)

// onSeveralDays is figure 3 on hosts that differ from day to day: a row of them in the order of the torus, which begins anywhere.
func (r *servetRun) onSeveralDays(ctx context.Context, machine crayMachine) error {
	cluster, err := machine.cluster()
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 1))
	var days [][]*servet.Result
	for range servetDays {
		first, place := random.IntN(cluster.Graph.Hosts()), make([]int, servetHosts)
		for i := range place {
			place[i] = (first + i) % cluster.Graph.Hosts()
		}
		err := r.on(cluster, place, func(own *servetRun) error {
			own.repetitions = 1 // days are
			found, err := own.distances(ctx)
			if own.comm.Rank() == 0 {
				days = append(days, found)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return r.figure3(days)
}

// on runs a part of the experiment on some hosts of a simulated cluster; nil: on all.
func (r *servetRun) on(cluster *simnet.Cluster, place []int, part func(*servetRun) error) error {
	return simnet.Run(cluster.Graph, place, usualSettings(cluster), func(comm mpi.Communicator) error {
		own := *r
		own.comm, own.simulated = comm, true
		return part(&own)
	})
}

func (o *servetOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	r, err := o.begin(s, "W", 256<<10, 4<<20)
	if err != nil {
		return err
	}
	r.comm, r.simulated = comm, isSimulated(comm)
	return r.all(ctx)
}

// all is collective, as are the parts.
func (r *servetRun) all(ctx context.Context) error {
	found, err := r.distances(ctx)
	if err == nil && r.comm.Rank() == 0 {
		err = r.figure3([][]*servet.Result{found})
	}
	if err := harness.Agree(r.comm, nil, err); err != nil {
		return err
	}
	ratios, err := r.accesses(ctx)
	if err != nil {
		return err
	}
	return r.placing(ctx, ratios)
}

// placing is what goes by the network and by the ratios of rank 0: figures 6, 7 and 8.
func (r *servetRun) placing(ctx context.Context, ratios *model.Degradation) error {
	found, err := r.discover(ctx)
	if err != nil {
		return err
	}
	if err := r.orientation(found); err != nil {
		return err
	}
	if err := r.kernels(found, ratios); err != nil || !r.cray {
		return err
	}
	return r.messageCosts(found, ratios)
}

// discover returns the network on rank 0, nil elsewhere.
func (r *servetRun) discover(ctx context.Context) (*model.Network, error) {
	s := &measure.DiscoverSettings{Control: harness.Control{Budget: r.budget.next()}, Sampling: measure.Sampling{Seed: 1}, Measured: cli.Measured(r.comm, "papers servet"), Patterns: -1}
	if r.simulated {
		s.Samples, s.Repetitions, s.Pairs = cli.SimulatedSamples, 1, measure.TwoLevelsAlike
	}
	d, err := measure.Discover(ctx, r.comm, s)
	if err != nil || d == nil {
		return nil, err
	}
	if r.comm.Rank() == 0 && r.out.Where == "" {
		r.out.Where = fmt.Sprintf("%s on %s. %s", words.Count(r.comm.Size(), "rank"), words.Count(max(1, len(d.Network.Hosts())), "host"), d.Latencies.Library)
	}
	return d.Network, nil
}
