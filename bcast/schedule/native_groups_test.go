package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/topology"
)

// Hosts {0,5}, {1,4}, {2,3}, of which the first and last share a rack; rank 6 is on none. They are
// groups 2, 3 and 4, after all ranks and the rack. The walk from rank 3 meets 3, 0, 1 and 6 as leaders. By
// hand: a leader sends a piece on, and then waits for the next while its host has this one; a part of a ring
// is handed on after the exchange that has sent it on.
func TestNativeGroupsByHand(t *testing.T) {
	tree := racks(t)
	p := schedule.Problem{Ranks: 7, Root: 3, Bytes: 20, Segment: 10, Tree: tree}
	for _, c := range []struct {
		name string
		a    schedule.Algorithm
		want map[int]string // by rank
	}{
		{"the chain of leaders", schedule.NativeGroups{}, map[int]string{
			0: "[recv [0, 10) peer 3 send [0, 10) peer 1 native [0, 10) from 0 in group 2 recv [10, 20) peer 3 send [10, 20) peer 1 native [10, 20) from 0 in group 2]",
			1: "[recv [0, 10) peer 0 send [0, 10) peer 6 native [0, 10) from 1 in group 3 recv [10, 20) peer 0 send [10, 20) peer 6 native [10, 20) from 1 in group 3]",
			2: "[native [0, 20) from 3 in group 4]",
			3: "[send [0, 10) peer 0 send [10, 20) peer 0 native [0, 20) from 3 in group 4]",
			4: "[native [0, 10) from 1 in group 3 native [10, 20) from 1 in group 3]",
			5: "[native [0, 10) from 0 in group 2 native [10, 20) from 0 in group 2]",
			6: "[recv [0, 10) peer 1 recv [10, 20) peer 1]",
		}},
		{"the rack of rank 3, and three that lead themselves", schedule.NativeGroups{Level: 1, Between: schedule.Flat{}}, map[int]string{
			0: "[native [0, 20) from 3 in group 1]",
			1: "[recv [0, 10) peer 3 recv [10, 20) peer 3]",
			2: "[native [0, 20) from 3 in group 1]",
		}},
		// Places 0 to 3 are ranks 3, 0, 1 and 6, and the parts 5 bytes each.
		{"a ring of leaders", schedule.NativeGroups{Between: classic.ScatterRing{}}, map[int]string{
			5: "[native [5, 10) from 0 in group 2 native [0, 5) from 0 in group 2 native [15, 20) from 0 in group 2 native [10, 15) from 0 in group 2]",
		}},
	} {
		for rank, want := range c.want {
			if got := fmt.Sprint(c.a.Prepare(p).Of(rank).Ops(nil, p)); got != want {
				t.Errorf("%s: rank %d: %s\nwant %s", c.name, rank, got, want)
			}
		}
		if err := schedule.Check(c.a, p); err != nil {
			t.Error(err)
		}
	}
}

func racks(t *testing.T) *topology.Hierarchy {
	t.Helper()
	tree, err := topology.NewHierarchy(7, make([]topology.Level, 2), []topology.Group{
		{Level: 0, Hosts: []int{0, 5}},
		{Level: 0, Hosts: []int{1, 4}},
		{Level: 0, Hosts: []int{2, 3}},
		{Level: 1, Hosts: []int{0, 2, 3, 5}},
	}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestNativeGroupsSolveEveryProblem(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	for range 200 {
		ranks := 1 + rng.IntN(40)
		p := schedule.Problem{
			Ranks: ranks, Root: rng.IntN(ranks), Bytes: rng.IntN(5000), Segment: rng.IntN(2) * (1 + rng.IntN(500)),
			Tree: casttest.RandomTree(rng, ranks),
		}
		for _, a := range append(schedule.Variants([]schedule.Algorithm{schedule.NativeGroups{}}, p), schedule.NativeGroups{Level: 2, Between: classic.ScatterDoubling{}}) {
			if err := schedule.Check(a, p); err != nil {
				t.Fatalf("Check(%v, %+v) = %v", a, p, err)
			}
		}
	}
}

// caller is a script that may call the library.
type caller struct{ casttest.Script }

func (caller) UsesNative() {}

func TestCheckFindsWhatIsWrongInGroups(t *testing.T) {
	native := func(group, from, offset, length int) schedule.Op {
		return schedule.Op{Kind: schedule.Native, Group: int32(group), Peer: from, Offset: offset, Length: length}
	}
	send, recv := casttest.Send, casttest.Recv
	// Rank 3 is the root, and 2 is with it in group 4; 1 and 4 are group 3, 0 and 5 group 2.
	right := func() casttest.Script {
		return casttest.Script{
			0: {recv(3, 0, 10), native(2, 0, 0, 10)},
			1: {recv(3, 0, 10), native(3, 1, 0, 4), native(3, 1, 4, 6)},
			2: {native(4, 3, 0, 10)},
			3: {send(1, 0, 10), send(0, 0, 10), send(6, 0, 10), native(4, 3, 0, 10)},
			4: {native(3, 1, 0, 4), native(3, 1, 4, 6)},
			5: {native(2, 0, 0, 10)},
			6: {recv(3, 0, 10)},
		}
	}
	p := schedule.Problem{Ranks: 7, Root: 3, Bytes: 10, Tree: racks(t)}
	if err := schedule.Check(caller{right()}, p); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		rank int
		ops  []schedule.Op
		want string
	}{
		{"one of the group does not take part", 5, nil, "1 of 7 ranks wait for ever: rank 0 in step 1: native [0, 10) from 0 in group 2"},
		{"they call in different orders", 4, []schedule.Op{native(3, 1, 4, 6), native(3, 1, 0, 4)}, "calls native"},
		{"they do not agree on the bytes", 5, []schedule.Op{native(2, 0, 0, 9)}, "calls native"},
		{"they do not agree on who has them", 5, []schedule.Op{native(2, 5, 0, 10)}, "calls native"},
		{"it is called too early", 0, []schedule.Op{native(2, 0, 0, 10), recv(3, 0, 10)}, "rank 0, step 0: broadcasts [0, 10), which it does not have"},
		{"somebody has the bytes already", 4, []schedule.Op{recv(3, 0, 10), native(3, 1, 0, 4), native(3, 1, 4, 6)}, "wait for ever"},
		{"they come a second time", 1, []schedule.Op{recv(3, 0, 10), native(3, 1, 0, 4), native(3, 1, 0, 4), native(3, 1, 4, 6)}, "calls native"},
		{"it is called while the rest waits", 3, []schedule.Op{native(4, 3, 0, 10), send(1, 0, 10), send(0, 0, 10)}, "wait for ever"},
		{"the rank is of another group", 5, []schedule.Op{native(3, 1, 0, 10)}, "rank 5 is not in the group"},
		{"the bytes are with another group", 5, []schedule.Op{native(2, 1, 0, 10)}, "rank 1 is not in the group"},
		{"all ranks are no group", 5, []schedule.Op{native(0, 3, 0, 10)}, "want a group of [1, 5)"},
		{"there is no such group", 5, []schedule.Op{native(5, 3, 0, 10)}, "want a group of [1, 5)"},
		{"it runs over the end", 5, []schedule.Op{native(2, 0, 0, 11)}, "within [0, 10)"},
		{"a send names a group", 6, []schedule.Op{{Kind: schedule.Recv, Group: 1, Peer: 3, Length: 10}}, "want a group in a Native only"},
	} {
		s := right()
		s[c.rank] = c.ops
		if err := schedule.Check(caller{s}, p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	twice := right()
	twice[0], twice[5] = append(twice[0], native(2, 0, 3, 4)), append(twice[5], native(2, 0, 3, 4))
	if err := schedule.Check(caller{twice}, p); err == nil || !strings.Contains(err.Error(), "rank 5, step 1: receives part of [3, 7) a second time") {
		t.Errorf("bytes that come twice: error %v", err)
	}
	if err := schedule.Check(right(), p); err == nil || !strings.Contains(err.Error(), "want no Native") {
		t.Errorf("an algorithm that does not say so: error %v", err)
	}
	p.Tree = nil
	if err := schedule.Check(caller{right()}, p); err == nil || !strings.Contains(err.Error(), "want a group of [1, 0)") {
		t.Errorf("no groups: error %v", err)
	}
}
