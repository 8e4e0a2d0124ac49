package servet

import (
	"fmt"
	"slices"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// placesOn are those of ranks on hosts of one letter each, numbered on each host.
func placesOn(hosts string) []mpi.Place {
	next := make(map[rune]int)
	var places []mpi.Place
	for _, h := range hosts {
		places = append(places, mpi.Place{Host: string(h), Core: next[h]})
		next[h]++
	}
	return places
}

func TestRanksOfHosts(t *testing.T) {
	places := placesOn("baabcb")
	places[0].Core, places[3].Core = 7, 2 // of b: ranks 0, 3 and 5 on the cores 7, 2 and 2
	for most, want := range map[int]string{0: "[[3 5 0] [1 2] [4]] [b a c]", 2: "[[3 5 0] [1 2]] [b a]", 9: "[[3 5 0] [1 2] [4]] [b a c]"} {
		ranks, names := ranksOf(places, nil, most)
		if got := fmt.Sprint(ranks, names); got != want {
			t.Errorf("of at most %d hosts: %s, want %s", most, got, want)
		}
	}
}

// patterns lists the messages of each step, by their senders.
func patterns(ranks [][]int, steps []step) map[int]string {
	text := make(map[int]string)
	for _, s := range steps {
		var all [][2]int
		for _, t := range s.transfers(ranks, 1) {
			all = append(all, [2]int{t.Src, t.Dst})
		}
		slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
		text[s.At] = fmt.Sprint(all)
	}
	return text
}

// Reference: Servet 3.0, section 4.1 and figure 1: on 8 nodes, at distance 4, p sends to p + 4 modulo 8.
func TestDistancePatterns(t *testing.T) {
	ranks, _ := ranksOf(placesOn("aabbccddeeffgghh"), nil, 0)
	steps, warnings := planDistance(ranks, &Settings{})
	if warnings != nil {
		t.Errorf("warnings %q", warnings)
	}
	got := patterns(ranks, steps)
	want := map[int]string{ // one rank per host: the even ones
		1: "[[0 2] [2 4] [4 6] [6 8] [8 10] [10 12] [12 14] [14 0]]",
		2: "[[0 4] [2 6] [4 8] [6 10] [8 12] [10 14] [12 0] [14 2]]",
		3: "[[0 6] [2 8] [4 10] [6 12] [8 14] [10 0] [12 2] [14 4]]",
		4: "[[0 8] [2 10] [4 12] [6 14] [8 0] [10 2] [12 4] [14 6]]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("patterns %v, want %v", got, want)
	}
	for _, c := range []struct {
		hosts    string
		settings Settings
		steps    int
		warnings int
	}{{"abc", Settings{}, 1, 1}, {"a", Settings{}, 0, 1}, {"abcd", Settings{}, 2, 0}, {"abcd", Settings{Hosts: 9}, 2, 1}} {
		ranks, _ := ranksOf(placesOn(c.hosts), nil, c.settings.Hosts)
		steps, warnings := planDistance(ranks, &c.settings)
		if len(steps) != c.steps || len(warnings) != c.warnings {
			t.Errorf("hosts %q: %d steps and warnings %q, want %d and %d", c.hosts, len(steps), warnings, c.steps, c.warnings)
		}
	}
}

// Reference: Servet 3.0, section 4.2. Four hosts of two cores are 2 NC: one process on each of
// four, two on each of two, always four messages; cores evenly, so with one process the first.
func TestAccessPatterns(t *testing.T) {
	ranks, _ := ranksOf(placesOn("aabbccdd"), nil, 0)
	steps, warnings := planAccess(ranks, &Settings{})
	if warnings != nil {
		t.Errorf("warnings %q", warnings)
	}
	want := map[int]string{1: "[[0 2] [2 4] [4 6] [6 0]]", 2: "[[0 2] [1 3] [2 0] [3 1]]"}
	if got := patterns(ranks, steps); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("patterns %v, want %v", got, want)
	}
}

// Cores of two processors in turn, as some systems number them: two processes per host are one on each.
func TestAccessSpreadsOverWhatIsShared(t *testing.T) {
	ranks, _ := ranksOf(placesOn("aaaabbbb"), []model.Resource{{Groups: [][]int{{0, 2}, {1, 3}, {4, 6}, {5, 7}}}}, 0)
	steps, _ := planAccess(ranks, &Settings{})
	if got, want := patterns(ranks, steps)[2], "[[0 4] [1 5] [4 0] [5 1]]"; got != want {
		t.Errorf("patterns %v, want %v", got, want)
	}
}

// By hand. Counts of 1 process on so many hosts, of 2 on so many, and so on; a total that cannot
// stay the same is said.
func TestAccessPlans(t *testing.T) {
	repeat := func(size, hosts int) (all [][]int) {
		for h := range hosts {
			var ranks []int
			for i := range size {
				ranks = append(ranks, h*size+i)
			}
			all = append(all, ranks)
		}
		return all
	}
	for _, c := range []struct {
		name     string
		ranks    [][]int
		settings Settings
		want     string // processes per host x hosts
		warnings int
	}{
		{"HECToR's counts", repeat(32, 64), Settings{}, "1x64 2x32 4x16 8x8 16x4 32x2", 0},
		{"six cores", repeat(6, 12), Settings{}, "1x12 2x6 3x4 4x3 6x2", 0},
		{"more hosts than needed", repeat(2, 9), Settings{}, "1x4 2x2", 0},
		{"fewer hosts", repeat(4, 7), Settings{}, "1x6 2x3 3x2 4x2", 2},
		{"two hosts", repeat(4, 2), Settings{}, "1x2 2x2 4x2", 2},
		{"three hosts of four", repeat(4, 3), Settings{}, "1x3 2x2 4x2", 2},
		{"one host", repeat(4, 1), Settings{}, "", 1},
		{"one rank each", repeat(1, 5), Settings{}, "1x2", 0},
		{"uneven", append(repeat(4, 2), []int{8, 9}, []int{10, 11}, []int{12}, []int{13}, []int{14}, []int{15}), Settings{}, "1x8 2x4 4x2", 1},
		{"hosts that the job has not", repeat(1, 2), Settings{Hosts: 3}, "1x2", 1},
	} {
		steps, warnings := planAccess(c.ranks, &c.settings)
		got := ""
		for i, s := range steps {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%dx%d", s.PerHost, s.Hosts)
			if s.At != s.PerHost || s.Apart != 1 {
				t.Errorf("%s: step %+v", c.name, s)
			}
		}
		if got != c.want || len(warnings) != c.warnings {
			t.Errorf("%s: steps %q with warnings %q, want %q and %d", c.name, got, warnings, c.want, c.warnings)
		}
	}
}

// Of five hosts of two cores four take part with one process each, and two with two.
func TestHostsThatAreNotNeededWait(t *testing.T) {
	ranks, _ := ranksOf(placesOn("aabbccddee"), nil, 0)
	steps, warnings := planAccess(ranks, &Settings{})
	if warnings != nil {
		t.Errorf("warnings %q", warnings)
	}
	want := map[int]string{1: "[[0 2] [2 4] [4 6] [6 0]]", 2: "[[0 2] [1 3] [2 0] [3 1]]"}
	if got := patterns(ranks, steps); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("patterns %v, want %v", got, want)
	}
}

// Hosts of 5 ranks and 3 senders: the cores 0, 1 and 3, one in each third.
func TestSendersAreSpreadOverTheCores(t *testing.T) {
	ranks := [][]int{{0, 1, 2, 3, 4}, {5}, {6, 7, 8, 9, 10}}
	if got, want := patterns(ranks, []step{{At: 3, PerHost: 3, Hosts: 2, Apart: 1}})[3], "[[0 6] [1 7] [3 9] [6 0] [7 1] [9 3]]"; got != want {
		t.Errorf("messages %s, want %s", got, want)
	}
}

func TestCoarseFirst(t *testing.T) {
	for n := range 40 {
		order := coarseFirst(n)
		sorted := slices.Sorted(slices.Values(order))
		for i, v := range sorted {
			if i != v {
				t.Fatalf("coarseFirst(%d) = %v is no order of all", n, order)
			}
		}
		if len(order) != n || n > 0 && order[0] != 0 || n > 1 && order[1] != n-1 {
			t.Fatalf("coarseFirst(%d) = %v, want the first and the last before all others", n, order)
		}
	}
	if got, want := fmt.Sprint(coarseFirst(9)), "[0 8 4 2 6 1 5 3 7]"; got != want {
		t.Errorf("coarseFirst(9) = %s, want %s", got, want)
	}
}
