package bcast_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
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

// Two racks in which no groups were found, ranks in turn: a plan along the racks that another method has found wins by measuring and is
// kept with its groups, and the next job makes the same plan without that method's network. A job that gives the name
// to other groups does without, and says so.
func TestPlansAlongSeveralTopologies(t *testing.T) {
	c, _ := cluster(t, "tree:2x3 latency=200us,5us rate=1Gbps")
	n := blind(t, c.Graph.Hosts())
	placement := []int{0, 3, 1, 4, 2, 5}
	const size = 64
	algorithms := []schedule.Algorithm{schedule.Binomial{}, schedule.MultiLevel{}}
	asked := []table.Topology{{Name: table.Found}, {Name: "racks", Levels: [][][]int{{{0, 2, 4}, {1, 3, 5}}}}}
	var plans []string
	var file string
	err := simnet.Run(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
		b, err := bcast.New(newLibrary(comm, schedule.Chain{}, 0), &bcast.Settings{Network: n, Topologies: asked, Algorithms: algorithms})
		if err != nil {
			return err
		}
		if b.Warnings() != nil {
			return fmt.Errorf("warnings %q", b.Warnings())
		}
		want := []string{"native", "binomial", "multilevel (racks)", "binomial (racks)"}
		if names, err := candidateNames(b, size, 0); err != nil || !sameNames(names, want) {
			return fmt.Errorf("candidates %q, %v, want %q", names, err, want)
		}
		if err := b.Tune(nil, size); err != nil {
			return err
		}
		for root := range comm.Size() {
			plan, err := b.Plan(size, root)
			if err != nil || !strings.Contains(plan.How(), "] (racks), whole message") || !(plan.Measured < plan.MeasuredNative) || !(plan.Predicted > 0) {
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
		asked   []table.Topology
		tuned   bool
		warning string
	}{
		{"nothing is asked for", nil, true, ""},
		{"the same are", asked[1:], true, ""},
		{"others are", []table.Topology{{Name: table.Found}}, true, ""},
		{"the name is that of others", []table.Topology{{Name: "racks", Levels: [][][]int{{{0, 1}, {2, 3}, {4, 5}}}}}, false, "follows other groups by the name of racks"},
	} {
		err := simnet.Run(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
			s := &bcast.Settings{Network: n, Topologies: x.asked, Algorithms: algorithms}
			if comm.Rank() > 0 { // rank 0's count
				s.Topologies, s.Network = nil, nil
			}
			b, err := bcast.New(newLibrary(comm, schedule.Chain{}, 0), s)
			if err != nil {
				return err
			}
			if w := strings.Join(b.Warnings(), "; "); x.warning == "" && w != "" || !strings.Contains(w, x.warning) {
				return fmt.Errorf("warnings %q, want %q", w, x.warning)
			}
			for root := range comm.Size() {
				plan, undecided := b.Plan(size, root)
				if root == 0 && (undecided == nil) != x.tuned || x.tuned && plan.How() != plans[root] {
					return fmt.Errorf("from %d: %v, %v, want %s", root, plan, undecided, plans[root])
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

// Plans along all groups bring every byte, and names that tables cannot tell apart are refused.
func TestGroupsOfTopologies(t *testing.T) {
	c, n := cluster(t, "tree:2x2x2 latency=20us,8us,2us rate=1Gbps")
	asked := []table.Topology{
		{Name: "flat"},
		{Name: "pairs", Levels: [][][]int{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}}},
		{Name: "hosts", Levels: [][][]int{{{0, 1, 2}, {4, 5, 6}}}},
	}
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Network: n, Topologies: asked, ModelOnly: true})
		if err != nil {
			return err
		}
		searched := make(map[string]bool)
		for root := range comm.Size() {
			for _, bytes := range []int{8, 300, 64 << 10, 1 << 20} { // they come with other settings
				plans, err := b.Candidates(bytes, root)
				if err != nil {
					return err
				}
				for _, plan := range plans {
					_, groups, _ := strings.Cut(plan.Name(), " (")
					searched[groups] = true
					plan.Segment = 100
					if err := verified(comm, 300, root, by(b, plan, 300, root)); err != nil {
						return fmt.Errorf("%v: %w", plan, err)
					}
				}
			}
		}
		if len(searched) != 3 || searched[""] {
			return fmt.Errorf("searched along %v, want flat, pairs and hosts", searched)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		asked []table.Topology
		want  string
	}{
		{[]table.Topology{{Name: "a, b"}}, `name "a, b": want`},
		{[]table.Topology{{Name: "flat"}, {Name: "flat"}}, `topology 1: name "flat": want 1 to 64 bytes of plain text without commas and brackets, each once`},
		{[]table.Topology{{Name: "large", Levels: [][][]int{{{0, 8}}}}}, "host outside [0, 8)"},
	} {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			_, err := bcast.New(comm, &bcast.Settings{Network: n, Topologies: x.asked})
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

// Without a network plans follow groups all the same.
func TestTopologiesWithoutANetwork(t *testing.T) {
	c, _ := cluster(t, "star:4")
	hosts := []table.Topology{{Name: "hosts", Levels: [][][]int{{{0, 2}, {1, 3}}}}}
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Topologies: hosts, ModelOnly: true})
		if err != nil {
			return err
		}
		if err := b.Tune([]int{3}, 1<<20); err != nil {
			return err
		}
		plan, err := b.Plan(1<<20, 3)
		if err != nil || !strings.HasSuffix(plan.Name(), " (hosts)") {
			return fmt.Errorf("%v, %v, want one along hosts", plan, err)
		}
		return verified(comm, 1<<20, 3, func(buf []byte) error { return b.Bcast(buf, 3) })
	})
	if err != nil {
		t.Error(err)
	}
}
