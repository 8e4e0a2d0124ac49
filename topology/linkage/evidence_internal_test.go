package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/confidence"
	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
)

// parsedTree reads a tree such as "((0 1 2) (3 4) 5)": hosts, and groups of what is in brackets. Groups
// are numbered as their brackets close.
func parsedTree(text string) *nested.Tree {
	var (
		open [][]int32
		t    = &nested.Tree{}
	)
	for _, word := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text)) {
		switch last := len(open) - 1; word {
		case "(":
			open = append(open, []int32{})
		case ")":
			v := int32(-1 - len(t.Children)) // its number is known when all hosts are
			t.Children = append(t.Children, open[last])
			if open = open[:last]; last > 0 {
				open[last-1] = append(open[last-1], v)
			}
		default:
			h, err := strconv.Atoi(word)
			if err != nil {
				panic(err)
			}
			open[last] = append(open[last], int32(h))
			t.N++
		}
	}
	vertices := t.N + len(t.Children)
	t.Root = int32(vertices - 1)
	t.Parent = slices.Repeat([]int32{-1}, vertices)
	t.Lo, t.Hi = make([]int32, vertices), make([]int32, vertices)
	t.Level, t.Weight = make([]float64, len(t.Children)), make([]float64, len(t.Children))
	for k, kids := range t.Children {
		v := int32(t.N + k)
		for x, c := range kids {
			if c < 0 {
				kids[x] = int32(t.N) - 1 - c
			}
			t.Parent[kids[x]] = v
		}
	}
	var place func(v int32)
	place = func(v int32) {
		t.Lo[v] = int32(len(t.Order))
		if t.IsGroup(v) {
			for _, c := range t.Kids(v) {
				place(c)
			}
		} else {
			t.Order = append(t.Order, v)
		}
		t.Hi[v] = int32(len(t.Order))
	}
	place(t.Root)
	return t
}

// judgeOf judges a tree by the measurements of f: below zero what was not measured.
func judgeOf(text string, f func(i, j int) float64) *judge {
	t := parsedTree(text)
	r := measured.NewSymmetric(t.N, func(i, j int) float32 { return float32(f(j, i)) })
	return &judge{
		t: t, r: r, raw: r, residualNoise: math.NaN(),
		confidence: make([]float64, len(t.Children)), margin: make([]margin, len(t.Children)),
	}
}

// groupOf finds the group of the tree with the given hosts.
func groupOf(t *nested.Tree, hosts ...int32) int32 {
	for _, v := range t.Groups() {
		own := slices.Clone(t.Leaves(v))
		slices.Sort(own)
		if slices.Equal(own, hosts) {
			return v
		}
	}
	panic(fmt.Sprint("no group of ", hosts))
}

// hosts lists the hosts from first to before as text of a tree.
func hosts(first, before int) string {
	var list []string
	for h := first; h < before; h++ {
		list = append(list, strconv.Itoa(h))
	}
	return strings.Join(list, " ")
}

// upTo lists the hosts from 0 to before n.
func upTo(n int) []int32 {
	list := make([]int32, n)
	for h := range list {
		list[h] = int32(h)
	}
	return list
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-6*max(1, min(math.Abs(a), math.Abs(b)))
}

func TestMiddle(t *testing.T) {
	for _, tt := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1}, 3},
		{[]float64{5, 1, 2}, 2},
		{[]float64{9, 1, 3, 2}, 2.5},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5},
	} {
		if got := middle(slices.Clone(tt.x)); got != tt.want {
			t.Errorf("middle(%v) = %g, want %g", tt.x, got, tt.want)
		}
	}
}

func TestDropAbove(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit float32
		most  int
		want  []float32
	}{
		{"all of them", 5, 2, []float32{1, 2, 5}},
		{"more than there may be: the largest", 5, 1, []float32{1, 2, 5, 8}},
		{"none above", 9, 2, []float32{1, 2, 5, 8, 9}},
	} {
		for _, x := range [][]float32{{1, 9, 2, 8, 5}, {8, 9, 1, 2, 5}, {5, 2, 1, 8, 9}} {
			got := dropAbove(slices.Sorted(slices.Values(x)), tt.limit, tt.most)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v of %v, want %v", tt.name, got, x, tt.want)
			}
		}
	}
}

// Three hosts at 10, 11 and 12 from each other, beside four of another group and one alone. Member i
// is 20+i from the first outsider, and 1 more from each next one.
func threeAmongEight() *judge {
	return judgeOf("((0 1 2) (3 4 5 6) 7)", func(i, j int) float64 {
		switch {
		case j <= 2:
			return float64(9 + i + j)
		case i <= 2:
			return float64(20 + i + j - 3)
		}
		return 50
	})
}

func TestEvidenceOfThreeAmongEight(t *testing.T) {
	g := threeAmongEight()
	g.quantum = 2
	g.residualNoise = 0.1
	v := groupOf(g.t, 0, 1, 2)
	e, ok := g.gather(v)
	if !ok {
		t.Fatal("nothing was measured")
	}
	luck := math.Exp(0.1 * confidence.LuckOfSmallest(5))
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"hosts", e.Hosts, 8},
		{"around", e.Around, 8},
		{"members", e.Members, 3},
		{"inside", e.Inside, 3},
		{"links", e.Links, 3},     // pairs of three children
		{"margins", e.Margins, 6}, // three children, two others: a group is one
		{"residualNoise", e.ResidualNoise, 0.1},
		// Measurements to outsiders are 20, 21 21, 22 22 22, 23 23 23, 24 24 24, 25 25, 26: the
		// median is 23; the mean of 10, 11 and 12 inside is 11.
		{"mean", e.Mean, math.Log(23.0 / 11)},
		// Off by the factors 1 (three times), 24/23 (three), 23/22 (three), ...: the eighth of 15.
		{"spread", e.Spread, 1.4826 * math.Log(23.0/22)},
		// One measurement per member: the smallest three, 20, 21 and 21.
		{"step", e.Near.Step, math.Log(21.0 / 11)},
		{"overlap", e.Near.Overlap, 0},
		{"ticks", e.Ticks, 17}, // (23-11)/2, and (23-1)/2, as the groups of this tree have a level of 1 s
		{"average step", e.Average.Step, math.Log(21.0 / 11 * luck)},
		{"average overlap", e.Average.Overlap, 0},
	} {
		if !near(tt.got, tt.want) {
			t.Errorf("%s = %g, want %g", tt.name, tt.got, tt.want)
		}
	}
	if g.margin[int(v)-8] != (margin{}) {
		t.Error("a margin is noted though no pair is missing")
	}

	g.quantum, g.residualNoise, g.gapped = 0, math.NaN(), true
	e, _ = g.gather(v)
	if !math.IsInf(e.Ticks, 1) || e.Average != e.Near {
		t.Errorf("without tick and noise: ticks %g, average %v, want +Inf and %v", e.Ticks, e.Average, e.Near)
	}
	// Within, 3 values: rank 1.5 of 0 to 2, so 11; outside, 15 values: rank 10.5, so 24.
	if b := g.margin[int(v)-8]; !near(b.inHigh, math.Log(11)) || !near(b.outLow, math.Log(21)) || !near(b.outHigh, math.Log(24)) {
		t.Errorf("margin %v, want ln 11, 21 and 24", b)
	}
}

// The evidence of a group inside a group: its outsiders are those of the parent only.
func TestEvidenceLooksNoFartherThanTheParent(t *testing.T) {
	g := judgeOf("(((0 1) (2 3) 4) 5 6 7)", func(i, j int) float64 {
		switch {
		case j == 1 || i == 2 && j == 3:
			return 1
		case j <= 4:
			return 3
		}
		return 0.5 // strangers to the tree, which must not count
	})
	e, _ := g.gather(groupOf(g.t, 0, 1))
	if !near(e.Near.Step, math.Log(3)) || !near(e.Mean, math.Log(3)) || e.Around != 5 || e.Hosts != 8 || e.Links != 1 || e.Margins != 4 {
		t.Errorf("evidence %+v, want steps of ln 3, 5 around, of 8 hosts, 1 link and 4 margins", e)
	}
	// Of the group around it the measurements between its children count, eight of 3, and not those inside them.
	// All are slower than the way out, so one of them is taken for an outlier.
	e, _ = g.gather(groupOf(g.t, 0, 1, 2, 3, 4))
	if !near(e.Mean, math.Log(0.5/3)) || e.Inside != 7 || e.Members != 5 || e.Links != 3 || e.Margins != 9 {
		t.Errorf("evidence %+v, want 7 measurements of 3 inside five members, 3 links and 9 margins", e)
	}
}

// Of twenty-one measurements inside some are outliers: up to a tenth, two, are left out if they are
// beyond what is typical outside.
func TestEvidenceLeavesOutliersOut(t *testing.T) {
	for _, tt := range []struct {
		name   string
		slow   []float64 // measurements inside instead of 10
		inside float64
		mean   float64 // of the measurements that are left; to outsiders all are 20
	}{
		{"none", nil, 21, 10},
		{"one", []float64{100}, 20, 10},
		{"two", []float64{100, 100}, 19, 10},
		{"four", []float64{100, 100, 100, 100}, 19, (17*10 + 2*100) / 19.0},
		{"slower than the way out by a half", []float64{30, 30}, 19, 10},
		{"below the way out", []float64{20, 20, 20}, 21, (18*10 + 3*20) / 21.0},
	} {
		at := 0
		g := judgeOf("((0 1 2 3 4 5 6) 7 8 9)", func(i, j int) float64 {
			if j >= 7 {
				return 20
			}
			if at++; at <= len(tt.slow) {
				return tt.slow[at-1]
			}
			return 10
		})
		e, _ := g.gather(groupOf(g.t, upTo(7)...))
		if want := math.Log(20 / tt.mean); e.Inside != tt.inside || !near(e.Mean, want) {
			t.Errorf("%s: %g measurements, mean %g, want %g, %g", tt.name, e.Inside, e.Mean, tt.inside, want)
		}
	}
	// Of one measurement inside none is an outlier.
	g := judgeOf("((0 1) 2 3)", func(i, j int) float64 {
		if j == 1 {
			return 100
		}
		return 20
	})
	if e, ok := g.gather(groupOf(g.t, 0, 1)); !ok || e.Inside != 1 || !near(e.Near.Step, math.Log(0.2)) || e.Near.Overlap != 1 || !math.IsInf(e.Ticks, 1) {
		t.Errorf("a slow pair: %+v, want one measurement, a step of ln 0.2 and full overlap, no ticks seen", e)
	}
	// Of three one may be.
	g = judgeOf("((0 1 2) 3 4)", func(i, j int) float64 {
		switch {
		case i == 0 && j == 1:
			return 100
		case j <= 2:
			return 10
		}
		return 20
	})
	if e, _ := g.gather(groupOf(g.t, 0, 1, 2)); e.Inside != 2 || !near(e.Mean, math.Ln2) {
		t.Errorf("three members: %g measurements, mean %g, want 2, ln 2", e.Inside, e.Mean)
	}
	// Of six measurements inside, 10 and 12 three times each, the lower median counts.
	g = judgeOf("((0 1 2 3) 4 5)", func(i, j int) float64 {
		switch {
		case j <= 3 && i == 0:
			return 10
		case j <= 3:
			return 12
		}
		return 20
	})
	if e, _ := g.gather(groupOf(g.t, 0, 1, 2, 3)); !near(e.Near.Step, math.Log(2)) || !near(e.Mean, math.Log(20.0/11)) {
		t.Errorf("six measurements: step %g, mean %g, want ln 2 and ln 20/11", e.Near.Step, e.Mean)
	}
}

// Three members are at 10, 11 and 12, and each at 11.5 from one outsider of two. One of three
// measurements inside is above that. With a noise of 20 % the smallest of two is 0.674 of it too low, by 14 %: at
// 13.2 nothing is.
func TestLuckOfSmallGroups(t *testing.T) {
	g := judgeOf("((0 1 2) 3 4)", func(i, j int) float64 {
		switch {
		case j <= 2:
			return float64(9 + i + j)
		case j == 3:
			return 11.5
		}
		return 20
	})
	g.residualNoise = 0.2
	e, _ := g.gather(groupOf(g.t, 0, 1, 2))
	if !near(e.Near.Overlap, 1.0/3) || e.Average.Overlap != 0 || !near(e.Average.Step-e.Near.Step, 0.2*confidence.LuckOfSmallest(2)) {
		t.Errorf("near %v, average %v, want overlaps of 1/3 and 0 and steps that differ by %g", e.Near, e.Average, 0.2*confidence.LuckOfSmallest(2))
	}
}

func TestEvidenceOfWhatWasNotMeasured(t *testing.T) {
	for _, tt := range []struct {
		name    string
		missing func(i, j int) bool
		ok      bool
		inside  float64
	}{
		{"all was", func(i, j int) bool { return false }, true, 6},
		{"a pair inside", func(i, j int) bool { return i == 0 && j == 1 }, true, 5},
		{"a pair to the outside", func(i, j int) bool { return i == 0 && j == 4 }, true, 6},
		{"all inside", func(i, j int) bool { return j <= 3 }, false, 0},
		{"all to the outside", func(i, j int) bool { return i <= 3 && j >= 4 }, false, 0},
		{"all but one to the outside", func(i, j int) bool { return i <= 3 && j >= 4 && i+j != 4 }, true, 6},
	} {
		g := judgeOf("((0 1 2 3) 4 5 6)", func(i, j int) float64 {
			x := 20.0
			if j <= 3 {
				x = 10
			}
			if tt.missing(i, j) {
				return -1 // an estimate that would change all, were it read
			}
			return x
		})
		e, ok := g.gather(groupOf(g.t, 0, 1, 2, 3))
		if ok != tt.ok || e.Inside != tt.inside {
			t.Errorf("%s: gather() = %+v, %v, want %g measurements inside, %v", tt.name, e, ok, tt.inside, tt.ok)
		}
		if ok && (!near(e.Near.Step, math.Log(2)) || !near(e.Mean, math.Log(2)) || e.Near.Overlap != 0 || e.Spread != 0) {
			t.Errorf("%s: %+v, want steps of ln 2 without overlap and spread", tt.name, e)
		}
	}
	g := judgeOf("((0 1 2 3) 4 5 6)", func(i, j int) float64 { return -1 })
	g.confidence = []float64{0.7, 1}
	if g.judgeAll(); g.confidence[0] != 0 {
		t.Errorf("confidence %g of what was not measured, want 0", g.confidence[0])
	}
}

// Of many members one half chooses near outsiders and the other reads them. To the even members
// outsiders 8 to 11 seem near, at 20, to the odd ones 12 to 15, at 21; the others
// read them as 30 and 31. Nobody's luck is counted, and nobody chooses 16 to 19, which are
// nearest to all together, at 24.
func TestOneHalfChoosesAndTheOtherReads(t *testing.T) {
	g := judgeOf("(("+hosts(0, 8)+") "+hosts(8, 20)+")", func(i, j int) float64 {
		even, first := i%2 == 0, j < 12
		switch {
		case j < 8:
			return 10
		case j >= 16:
			return 24
		case even && first:
			return 20
		case !even && !first:
			return 21
		case even:
			return 31
		}
		return 30
	})
	g.residualNoise = 0.1
	v := groupOf(g.t, upTo(8)...)
	e, _ := g.gather(v)
	if !near(e.Near.Step, math.Log(3)) {
		t.Errorf("step %g, want ln 3 = %g", e.Near.Step, math.Log(3))
	}
	counts := map[float32]int{}
	for _, x := range g.nearest {
		counts[x]++
	}
	// Each of the columns that a half chooses is read by the four of the other.
	if len(counts) != 2 || counts[30] != 4*nearOutsiders || counts[31] != 4*nearOutsiders {
		t.Errorf("measurements to near outsiders: %v, want %d of 30 and of 31", counts, 4*nearOutsiders)
	}
	if e.Average != e.Near {
		t.Errorf("average %v, want %v: eight members have no luck", e.Average, e.Near)
	}

	// The odd ones measured nothing they could read: all measurements count.
	g = judgeOf("(("+hosts(0, 8)+") 8 9)", func(i, j int) float64 {
		switch {
		case j < 8:
			return 10
		case (i%2 == 0) == (j == 8):
			return 20
		}
		return -1
	})
	if e, _ = g.gather(groupOf(g.t, upTo(8)...)); !near(e.Near.Step, math.Log(2)) {
		t.Errorf("step %g, want ln 2 by all measurements", e.Near.Step)
	}
}

// Near are so many outsiders: two, or of few one. Outsider 8+k is at 20+k of all members.
func TestHowManyOutsidersAreNear(t *testing.T) {
	for _, tt := range []struct{ outsiders, want int }{{fewOutsiders, nearOutsiders}, {fewOutsiders - 1, 1}, {1, 1}} {
		g := judgeOf("(("+hosts(0, 8)+") "+hosts(8, 8+tt.outsiders)+")", func(i, j int) float64 {
			if j < 8 {
				return 10
			}
			return float64(20 + (5*(j-8))%tt.outsiders) // the nearest are not the first
		})
		g.gather(groupOf(g.t, upTo(8)...))
		slices.Sort(g.nearest)
		distinct := slices.Compact(slices.Clone(g.nearest))
		if len(distinct) != tt.want || distinct[0] != 20 || distinct[len(distinct)-1] != float32(20+tt.want-1) || len(g.nearest) != 8*tt.want {
			t.Errorf("of %d outsiders near ones are read as %v, want the nearest %d, by eight members each", tt.outsiders, g.nearest, tt.want)
		}
	}
}

// Medians choose: outsider 8 is at 30 of most members, and at 1 of one of each half, by luck.
func TestNoLuckyMeasurementMakesAnOutsiderNear(t *testing.T) {
	g := judgeOf("(("+hosts(0, 8)+") 8 9 10)", func(i, j int) float64 {
		switch {
		case j < 8:
			return 10
		case j == 8 && i < 2:
			return 1
		case j == 8:
			return 30
		}
		return 25
	})
	if e, _ := g.gather(groupOf(g.t, upTo(8)...)); !near(e.Near.Step, math.Log(2.5)) || e.Near.Overlap != 0 {
		t.Errorf("near %v, want a step of ln 2.5 without overlap", e.Near)
	}
	// Nor does bad luck make one far: 8 is at 20 of most. And nothing is known of 10.
	g = judgeOf("(("+hosts(0, 8)+") 8 9 10 11)", func(i, j int) float64 {
		switch {
		case j < 8:
			return 10
		case j == 10:
			return -1
		case j == 8 && i < 2:
			return 90
		case j == 8:
			return 20
		}
		return 25
	})
	if e, _ := g.gather(groupOf(g.t, upTo(8)...)); !near(e.Near.Step, math.Log(2)) || !near(e.Mean, math.Log(2.5)) {
		t.Errorf("step %g, mean %g, want ln 2 and ln 2.5", e.Near.Step, e.Mean)
	}
}

// Each of three members has a neighbour of its own outside, at 20. Medians would not see them;
// the smallest measurements do, one per member.
func TestNeighboursOfSingleMembers(t *testing.T) {
	for neighbours, want := range []float64{3, 3, 2, 2} { // the lower median of three measurements
		g := judgeOf("((0 1 2) 3 4 5)", func(i, j int) float64 {
			switch {
			case j <= 2:
				return 10
			case j == i+3 && i < neighbours:
				return 20
			}
			return 30
		})
		if e, _ := g.gather(groupOf(g.t, 0, 1, 2)); !near(e.Near.Step, math.Log(want)) {
			t.Errorf("%d neighbours: step %g, want ln %g", neighbours, e.Near.Step, want)
		}
	}
}

// Of a group too large for all its measurements some members choose, and all are read.
func TestAllMembersOfALargeGroupRead(t *testing.T) {
	const members, outsiders = 200, 200
	g := judgeOf("(("+hosts(0, members)+") "+hosts(members, members+outsiders)+")", func(i, j int) float64 {
		switch {
		case j < members:
			return 10
		case i >= members:
			return 20
		case j == members || j == members+1:
			return 18
		}
		return 20
	})
	e, _ := g.gather(groupOf(g.t, upTo(members)...))
	if len(g.outside) > mostOutside || len(g.outside) < mostOutside/2 {
		t.Errorf("%d measurements to the outside, want up to %d, and not half of it", len(g.outside), mostOutside)
	}
	if want := 2 * nearOutsiders * members; len(g.nearest) != want {
		t.Errorf("%d measurements to near outsiders, want %d: both halves chose, all read", len(g.nearest), want)
	}
	if !near(e.Near.Step, math.Log(1.8)) || !near(e.Mean, math.Log(2)) {
		t.Errorf("step %g, mean %g, want ln 1.8 and ln 2", e.Near.Step, e.Mean)
	}
}

// A large child speaks no louder than a small one, and from none is the same host taken twice.
func TestSomeGivesChildrenEqualSay(t *testing.T) {
	g := judgeOf("(("+"("+hosts(0, 24)+") ("+hosts(24, 26)+") "+hosts(26, 27)+") 27 28)", func(i, j int) float64 {
		if i < 24 && j >= 24 && j < 26 {
			return 2
		}
		return 1
	})
	v := groupOf(g.t, upTo(27)...)
	in := g.some(v, 3*mostOfChild)
	of := map[int32]int{}
	for _, h := range in {
		for c := h; ; c = g.t.Parent[c] {
			if g.t.Parent[c] == v {
				of[c]++
				break
			}
		}
	}
	big, small := groupOf(g.t, upTo(24)...), groupOf(g.t, 24, 25)
	if of[big] != min(mostOfChild, 24) || of[small] != 2 || of[26] != 1 {
		t.Errorf("some() = %v, want %d of 24, 2 of 2 and a host", in, mostOfChild)
	}
	if slices.Sort(in); len(slices.Compact(slices.Clone(in))) != len(in) {
		t.Errorf("some() = %v, want no host twice", in)
	}
	// Evenly chosen: the members of a child of 24 lie 24/mostOfChild apart.
	for k, h := range in[:min(mostOfChild, 24)] {
		if int(h) != 24*k/min(mostOfChild, 24) {
			t.Errorf("some() = %v, want the hosts of a child evenly chosen", in)
		}
	}
	// Between the children there are 2 times as many measurements of 2 as of 1 to host 26, and two more.
	inner := slices.Clone(g.inner(v))
	slices.Sort(inner)
	ones := mostOfChild + 2
	if len(inner) != 3*mostOfChild+2 || inner[ones-1] != 1 || inner[ones] != 2 {
		t.Errorf("inner() = %v, want %d measurements of 1 and %d of 2", inner, ones, 2*mostOfChild)
	}
	// What was not measured is not read.
	if g.r.Row(26)[0] = -3; len(g.inner(v)) != len(inner)-1 || slices.Contains(g.within, -3) {
		t.Errorf("inner() = %v, want no estimate", g.within)
	}
	for _, kids := range []int{2, 3, 4, 5, 7, 16, 100} {
		groups := ""
		for k := range kids {
			groups += "(" + hosts(3*k, 3*k+3) + ") "
		}
		for _, text := range []string{"((" + hosts(0, 3*kids) + ") " + hosts(3*kids, 3*kids+2) + ")", "((" + groups + ") " + hosts(3*kids, 3*kids+2) + ")"} {
			g := judgeOf(text, func(i, j int) float64 { return 1 })
			v := groupOf(g.t, upTo(3*kids)...)
			for _, most := range []int{2, 3, 5, 8, 40, 1000} {
				in := g.some(v, most)
				slices.Sort(in)
				if len(in) < 2 || len(in) > most || len(slices.Compact(slices.Clone(in))) != len(in) || int(in[len(in)-1]) >= 3*kids {
					t.Errorf("up to %d of %d members: %v, want 2 or more of them, once each", most, g.t.Size(v), in)
				}
			}
		}
	}
}

// appendWithin reads all pairs of children, or of very many an even sample, none of them twice.
func TestAppendWithin(t *testing.T) {
	for _, tt := range []struct {
		text  string
		pairs int // between children of the root
	}{
		{"(0 1 2 3 4)", 10},
		{"((0 1 2) 3 (4 5))", 3 + 6 + 2},
		{"(" + hosts(0, 128) + ")", 8128},
		{"(" + hosts(0, 129) + ")", 8256},
		{"(" + hosts(0, 300) + ")", 44850},
		{"((" + hosts(0, 150) + ") (" + hosts(150, 298) + ") 298 299)", 150*148 + 2*298 + 1},
	} {
		g := judgeOf(tt.text, func(i, j int) float64 { return float64(1 + i + 512*j) })
		got := appendWithin(nil, g.t, g.t.Root, g.r.At)
		if g.t.HostsOnly(g.t.Root) && !slices.Equal(got, g.inner(g.t.Root)) {
			t.Errorf("%.20s...: inner() differs from appendWithin(), want the same of a group of hosts", tt.text)
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%.20s...: a pair is read twice", tt.text)
		}
		stride := 1
		for tt.pairs > stride*mostWithin {
			stride++
		}
		if want := (tt.pairs + stride - 1) / stride; len(got) != want {
			t.Errorf("%.20s...: %d measurements of %d pairs, want %d, every %d-th", tt.text, len(got), tt.pairs, want, stride)
		}
		for _, x := range got {
			i, j := (int32(x)-1)%512, (int32(x)-1)/512
			for g.t.Parent[i] != g.t.Root {
				i = g.t.Parent[i]
			}
			for g.t.Parent[j] != g.t.Root {
				j = g.t.Parent[j]
			}
			if i == j {
				t.Errorf("%.20s...: a pair inside a child is read", tt.text)
				break
			}
		}
	}
}

// randomJudge has a random tree of three levels and measurements that hardly ever tie.
func randomJudge(rng *rand.Rand) (text string, f func(i, j int) float64) {
	n := 0
	var some func(depth int) string
	some = func(depth int) string {
		if depth == 0 || rng.IntN(4) == 0 {
			n++
			return strconv.Itoa(n - 1)
		}
		parts := []string{some(depth - 1), some(depth - 1)}
		for range rng.IntN(10) {
			parts = append(parts, some(depth-1))
		}
		return "(" + strings.Join(parts, " ") + ")"
	}
	text = "(" + some(2) + " " + some(2) + " " + some(2) + " " + some(1) + ")"
	x := make([]float64, n*n)
	for k := range x {
		x[k] = float64(float32(1e-6 * math.Exp(rng.NormFloat64())))
		if rng.IntN(10) == 0 {
			x[k] = -x[k]
		}
	}
	return text, func(i, j int) float64 { return x[i*n+j] }
}

func evidenceOfAll(g *judge) string {
	var text strings.Builder
	for _, v := range g.t.Groups()[1:] {
		e, ok := g.gather(v)
		fmt.Fprintf(&text, "%d members: %v %v\n", g.t.Size(v), e, ok)
	}
	return text.String()
}

// In another unit of time, a power of two so that nothing is rounded, the evidence is the same.
func TestEvidenceDoesNotDependOnTheUnit(t *testing.T) {
	for seed := range 20 {
		text, f := randomJudge(rand.New(rand.NewPCG(uint64(seed), 5)))
		a, b := judgeOf(text, f), judgeOf(text, func(i, j int) float64 { return 1024 * f(i, j) })
		a.residualNoise, b.residualNoise, a.quantum, b.quantum = 0.1, 0.1, 1e-7, 1024e-7
		if x, y := evidenceOfAll(a), evidenceOfAll(b); x != y {
			t.Errorf("seed %d: evidence\n%swant that of the unit before\n%s", seed, y, x)
		}
	}
}

// With the hosts renamed, and children in another order before they are arranged, the evidence is
// the same.
func TestEvidenceDoesNotDependOnTheNumbering(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		text, f := randomJudge(rng)
		a := judgeOf(text, f)
		name := rng.Perm(a.t.N)
		var write func(v int32) string
		write = func(v int32) string {
			if !a.t.IsGroup(v) {
				return strconv.Itoa(name[v])
			}
			var parts []string
			for _, c := range a.t.Kids(v) {
				parts = append(parts, write(c))
			}
			return "(" + strings.Join(parts, " ") + ")"
		}
		old := make([]int, a.t.N)
		for i, x := range name {
			old[x] = i
		}
		renamed := write(a.t.Root)
		b := judgeOf(renamed, func(i, j int) float64 { return f(min(old[i], old[j]), max(old[i], old[j])) })
		if x, y := evidenceOfAll(a), evidenceOfAll(b); x != y {
			t.Errorf("seed %d: renamed hosts: evidence\n%swant\n%s", seed, y, x)
		}
		for _, kids := range a.t.Children {
			rng.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
		}
		c := judgeOf(write(a.t.Root), func(i, j int) float64 { return f(min(old[i], old[j]), max(old[i], old[j])) })
		b.t.Arrange(b.r.Means())
		c.t.Arrange(c.r.Means())
		sorted := func(g *judge) []string {
			lines := strings.Split(evidenceOfAll(g), "\n")
			slices.Sort(lines)
			return lines
		}
		if x, y := sorted(b), sorted(c); !slices.Equal(x, y) {
			t.Errorf("seed %d: children in another order: evidence\n%s\nwant\n%s", seed, strings.Join(y, "\n"), strings.Join(x, "\n"))
		}
	}
}

// Measurements that are all alike, of the fewest hosts and of more, with and without pairs missing: no group
// has confidence, nor is anything NaN.
func TestNoConfidenceWithoutAStep(t *testing.T) {
	for _, text := range []string{"((0 1) 2)", "((0 1) 2 3)", "((0 1 2 3 4 5 6 7) 8)", "((0 1 2 3 4 5 6 7) 8 9 10 11 12 13 14 15 16)", "((0 1) (2 3))"} {
		for _, x := range []float64{1e-6, math.SmallestNonzeroFloat32, math.MaxFloat32} {
			for _, residualNoise := range []float64{math.NaN(), 0, 0.1, math.Inf(1)} {
				g := judgeOf(text, func(i, j int) float64 { return x })
				g.residualNoise = residualNoise
				for _, v := range g.t.Groups()[1:] {
					e, _ := g.gather(v)
					if g.judgeAll(); !(g.confidence[int(v)-g.t.N] < 0.5) || e.Near.Step != 0 {
						t.Errorf("%s, measurements %g, noise %g: confidence %g, step %g, want none", text, x, residualNoise, g.confidence[int(v)-g.t.N], e.Near.Step)
					}
				}
			}
		}
	}
}
