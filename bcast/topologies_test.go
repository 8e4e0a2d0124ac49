package bcast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// blind is the network of a cluster in which no groups were found: all hosts at one switch.
func blind(t *testing.T, hosts int) *model.Network {
	t.Helper()
	c, err := gen.Parse(fmt.Sprintf("star:%d latency=20us rate=1Gbps", hosts))
	if err != nil {
		t.Fatal(err)
	}
	where := make([]model.Location, hosts)
	for i := range where {
		where[i] = model.Location{Host: c.Graph.Name(i), Core: -1}
	}
	return trueNetwork(t, c, where)
}

// Two racks in which no groups were found, ranks in turn: a plan along the racks that another method has found wins by measuring, is told and
// kept with its groups, and the next job makes the same plan without that method's network. A job that gives the name
// to other groups does without, and says so.
func TestPlansAlongSeveralTopologies(t *testing.T) {
	c, racks := cluster(t, "tree:2x3 latency=200us,5us rate=1Gbps")
	n := blind(t, c.Graph.Hosts())
	placement := []int{0, 3, 1, 4, 2, 5}
	const size = 64
	algorithms := []schedule.Algorithm{schedule.Binomial{}, schedule.MultiLevel{}}
	asked := []Topology{{Name: "found"}, {Name: "hosts"}, {Name: "flat"}, {Name: "racks", Network: racks}}
	var plans []string
	var file string
	err := simnet.Run(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
		b, err := New(newLibrary(comm, schedule.Chain{}, 0), &Settings{Network: n, Topologies: asked, Algorithms: algorithms})
		if err != nil {
			return err
		}
		if w := strings.Join(b.Warnings(), "; "); w != "topology hosts has the groups of found: compared once; topology flat has the groups of found: compared once" {
			return fmt.Errorf("warnings %q", w)
		}
		if want := []string{"ours", "native", "binomial", "multilevel (racks)", "binomial (racks)"}; !sameNames(b.Variants(), want) {
			return fmt.Errorf("variants %q, want %q", b.Variants(), want)
		}
		if err := b.TuneAll(size); err != nil {
			return err
		}
		for root := range comm.Size() {
			plan, err := b.Plan(size, root)
			if err != nil || plan.Topology != "racks" || !strings.Contains(plan.How(), "] (racks), whole message") || !(plan.Measured < plan.MeasuredNative) || !(plan.Predicted > 0) {
				return fmt.Errorf("from %d: %v, %v, want one along the racks", root, plan, err)
			}
			if comm.Rank() == 0 {
				plans = append(plans, plan.How())
			}
			if err := verified(comm, size, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
				return err
			}
		}
		stored, err := b.Table(time.Time{})
		if err != nil || comm.Rank() > 0 {
			return err
		}
		kept, err := stored.Keep(n)
		if err != nil {
			return err
		}
		var out strings.Builder
		err = kept.Write(&out)
		file = out.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err = model.Read(strings.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	kept, err := table.Of(n)
	if err != nil {
		t.Fatal(err)
	}
	if x := kept.Tunings()[0].Topologies; len(x) != 1 || x[0].Name != "racks" || fmt.Sprint(x[0].Levels) != "[[[0 2 4] [1 3 5]]]" {
		t.Fatalf("kept topologies %+v", x)
	}
	for _, x := range []struct {
		name    string
		asked   []Topology
		tuned   bool
		warning string
	}{
		{"nothing is asked for", nil, true, ""},
		{"the same are", asked[3:], true, ""},
		{"others are", []Topology{{Name: "found"}}, true, ""},
		{"the name is that of others", []Topology{{Name: "racks", Network: oddRacks(t, c)}}, false, "follows other groups by the name of racks"},
	} {
		err := simnet.Run(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
			s := &Settings{Network: n, Topologies: x.asked, Algorithms: algorithms}
			if comm.Rank() > 0 { // rank 0's count
				s.Topologies, s.Network = nil, nil
			}
			b, err := New(newLibrary(comm, schedule.Chain{}, 0), s)
			if err != nil {
				return err
			}
			if w := strings.Join(b.Warnings(), "; "); x.warning == "" && w != "" || !strings.Contains(w, x.warning) {
				return fmt.Errorf("warnings %q, want %q", w, x.warning)
			}
			for root := range comm.Size() {
				plan, decided := b.Chosen(size, root)
				if root == 0 && decided != x.tuned || x.tuned && plan.How() != plans[root] {
					return fmt.Errorf("from %d: %v, decided: %v, want %s", root, plan, decided, plans[root])
				}
				if err := verified(comm, size, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
					return err
				}
			}
			if x.tuned {
				return onlyConfirmed(b)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// sameNames compares lists in any order.
func sameNames(got, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}

// oddRacks is a network of the cluster's hosts in pairs.
func oddRacks(t *testing.T, c *gen.Cluster) *model.Network {
	t.Helper()
	pairs, err := gen.Parse("tree:3x2 latency=20us,5us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	where := make([]model.Location, c.Graph.Hosts())
	for i := range where {
		where[i] = model.Location{Host: c.Graph.Name(i), Core: -1}
	}
	return trueNetwork(t, pairs, where)
}

// The groups of each kind, from the network, the hosts and nothing.
func TestGroupsOfTopologies(t *testing.T) {
	c, n := cluster(t, "tree:2x2x2 latency=20us,8us,2us rate=1Gbps")
	machines := *overheads
	machines.Node = []int{0, 0, 0, 1, 2, 2, 2, 3} // hosts of three cores and of one
	err := simnet.Run(c.Graph, nil, &machines, func(comm mpi.Communicator) error {
		where := make([]model.Location, comm.Size())
		places, err := mpi.Places(comm)
		if err != nil {
			return err
		}
		for r, p := range places {
			where[r] = model.Location{Host: p.Host, Core: p.Core}
		}
		view := trueNetwork(t, c, where)
		asked := []Topology{{Name: "flat"}, {Name: "level0"}, {Name: "hosts"}, {Name: "level1"}}
		b, err := New(comm, &Settings{Network: view, Topologies: asked, ModelOnly: true})
		if err != nil {
			return err
		}
		for i, want := range []string{
			"[[[0 1] [2 3] [4 5] [6 7]] [[0 1 2 3] [4 5 6 7]]]", "[]",
			"[[[0 1] [2 3] [4 5] [6 7]]]", "[[[0 1 2] [4 5 6]]]", "[[[0 1 2 3] [4 5 6 7]]]",
		} {
			g := &b.groupings[i]
			if got := fmt.Sprint(table.Levels(g.tree)); got != want || g.Wanted != (i > 0) {
				return fmt.Errorf("%q: groups %s, wanted %v, want %s", g.Name, got, g.Wanted, want)
			}
		}
		for root := range comm.Size() { // plans of all of them bring every byte
			for index := range b.catalogue {
				c := nativePlan()
				c.Index, c.Algorithm, c.Segment = index, b.catalogue[index], 100
				if index%7 != root%7 && !testing.Short() {
					continue
				}
				if err := verified(comm, 300, root, func(buf []byte) error { return b.perform(b.compile(c, 300, root), buf, root) }); err != nil {
					return fmt.Errorf("%v along %q: %w", c.Algorithm, b.along(index).Name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		asked []Topology
		want  string
	}{
		{[]Topology{{Name: "level2"}}, `topology "level2": want found, hosts, flat, level0 or level1, or one with a network`},
		{[]Topology{{Name: "racks"}}, `topology "racks": want found`},
		{[]Topology{{Name: "a, b", Network: n}}, `name "a, b": want`},
		{[]Topology{{Name: "found", Network: n}}, `"found" is the name of`},
		{[]Topology{{Name: "flat"}, {Name: "flat"}}, `"flat" is given twice`},
		{[]Topology{{Name: "small", Network: trueNetwork(t, must(gen.Parse("star:3")), nil)}}, `topology "small": bcast: new: network of 3 ranks`},
	} {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			_, err := New(comm, &Settings{Network: n, Topologies: x.asked})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				return fmt.Errorf("rank %d: %v, want %q", comm.Rank(), err, x.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func must(c *gen.Cluster, err error) *gen.Cluster {
	if err != nil {
		panic(err)
	}
	return c
}

// Without a network there are hosts all the same.
func TestTopologiesWithoutANetwork(t *testing.T) {
	c, _ := cluster(t, "star:4")
	machines := *overheads
	machines.Node = []int{0, 1, 0, 1}
	err := simnet.Run(c.Graph, nil, &machines, func(comm mpi.Communicator) error {
		b, err := New(comm, &Settings{Topologies: []Topology{{Name: "hosts"}}, ModelOnly: true})
		if err != nil {
			return err
		}
		if err := b.Tune(3, 1<<20); err != nil {
			return err
		}
		plan, err := b.Plan(1<<20, 3)
		if err != nil || plan.Topology != "hosts" {
			return fmt.Errorf("%v, %v, want one along hosts", plan, err)
		}
		return verified(comm, 1<<20, 3, func(buf []byte) error { return b.Bcast(buf, 3) })
	})
	if err != nil {
		t.Error(err)
	}
}
