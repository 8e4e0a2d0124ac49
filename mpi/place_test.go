package mpi

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// span is the CPUs from..to-1.
func span(from, to int) []int {
	var cpus []int
	for c := from; c < to; c++ {
		cpus = append(cpus, c)
	}
	return cpus
}

// onHost puts one rank per mask on a host.
func onHost(host string, masks ...[]int) []Place {
	var places []Place
	for _, cpus := range masks {
		places = append(places, Place{host, coreOf(cpus), cpus})
	}
	return places
}

func TestOversubscribedHosts(t *testing.T) {
	a := onHost
	for _, tt := range []struct {
		name   string
		places []Place
		want   []string
	}{
		{"nobody", nil, nil},
		// Open MPI's default above two ranks: rank i bound to NUMA node i mod 2.
		{"four ranks on two NUMA nodes of four cores", a("a", span(0, 4), span(4, 8), span(0, 4), span(4, 8)), nil},
		{"eight ranks on two NUMA nodes of four cores", a("a", slices.Concat(slices.Repeat([][]int{span(0, 4)}, 4), slices.Repeat([][]int{span(4, 8)}, 4))...), nil},
		{"nine ranks on eight cores", a("a", slices.Repeat([][]int{span(0, 8)}, 9)...), []string{"a"}},
		{"five ranks on one of two NUMA nodes", a("a", slices.Concat(slices.Repeat([][]int{span(0, 4)}, 5), [][]int{span(4, 8)})...), []string{"a"}},
		{"two ranks on one core", a("a", []int{3}, []int{3}), []string{"a"}},
		{"two ranks on one core beside an idle one", a("a", []int{0}, []int{0}, span(0, 8)), []string{"a"}},
		{"two ranks on two cores", a("a", []int{0}, []int{1}), nil},
		{"the wide one has to give way to the narrow ones", a("a", span(0, 3), []int{0}, []int{1}), nil},
		{"three ranks in a chain of moves", a("a", []int{0, 1}, []int{0, 2}, []int{0}), nil},
		{"more unbound ranks than the largest mask has", a("a", span(0, 2), span(0, 2), span(0, 3), span(0, 3)), []string{"a"}},
		{"equal cores of different hosts", slices.Concat(a("a", []int{0}), a("b", []int{0})), nil},
		{"one host of three", slices.Concat(a("c", []int{0}), a("b", []int{0}, []int{0}), a("a", []int{0})), []string{"b"}},
		{"two hosts in order", slices.Concat(a("c", []int{1}, []int{1}), a("b", []int{0}, []int{0})), []string{"b", "c"}},
		{"masks that are not known", []Place{{"a", -1, nil}, {"a", -1, nil}, {"a", -1, []int{}}}, nil},
		{"cores without masks", []Place{{"a", 5, nil}, {"a", 5, nil}}, []string{"a"}},
		{"two on one core beside an unknown one", []Place{{"a", -1, nil}, {"a", 5, nil}, {"a", 5, []int{5}}}, []string{"a"}},
		{"one bound beside unknown ones", []Place{{"a", -1, nil}, {"a", 5, nil}, {"a", -1, nil}}, nil},
	} {
		if got := OversubscribedHosts(tt.places); !slices.Equal(got, tt.want) {
			t.Errorf("%s: OversubscribedHosts = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Hall's condition (1935), tried on all sets of ranks, says the same of masks as launchers make them: two masks of
// a host have no CPU in common, or one is within the other.
func TestOversubscribedIsHallsCondition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	levels := [][]int{{0, 8}, {0, 4}, {4, 8}, {0, 2}, {2, 4}, {4, 6}, {6, 8}, {0, 1}, {1, 2}, {2, 3}, {5, 6}, {7, 8}}
	counts := map[bool]int{}
	for range 2000 {
		masks := make([]uint, 1+rng.IntN(9))
		var places []Place
		for i := range masks {
			level := levels[rng.IntN(len(levels))]
			cpus := span(level[0], level[1])
			for _, cpu := range cpus {
				masks[i] |= 1 << cpu
			}
			places = append(places, Place{"a", -1, cpus})
		}
		want := false
		for set := range 1 << len(masks) {
			union, ranks := uint(0), 0
			for i, m := range masks {
				if set>>i&1 != 0 {
					union |= m
					ranks++
				}
			}
			want = want || ranks > bits.OnesCount(union)
		}
		counts[want]++
		if got := len(OversubscribedHosts(places)) > 0; got != want {
			t.Fatalf("OversubscribedHosts of masks %b = %v, want %v", masks, got, want)
		}
	}
	if counts[true] < 100 || counts[false] < 100 {
		t.Errorf("%v: want enough of both", counts)
	}
}

func TestPlacesSurviveEncoding(t *testing.T) {
	places := []Place{
		{"node07.cluster", -1, span(0, 64)},
		{"", 1 << 30, nil},
		{"node07.cluster", 3, []int{3}},
		{"tab\tand\nline", -1, slices.Concat(span(0, 4), span(8, 12), []int{1023})},
		{"b", 0, []int{}},
		{"node07.cluster", -1, span(0, 64)},
	}
	var text []byte
	for _, p := range places {
		text = p.appendText(text)
	}
	got, err := parsePlaces(text, len(places))
	if err != nil || !reflect.DeepEqual(got, places) {
		t.Errorf("places = %v, %v, want %v", got, err, places)
	}
	for _, ranks := range []int{len(places) - 1, len(places) + 1} {
		if _, err := parsePlaces(text, ranks); err == nil {
			t.Errorf("%d places are read as %d: no error", len(places), ranks)
		}
	}
	if perRank := len(places[0].appendText(nil)); perRank > 30 {
		t.Errorf("a place takes %d bytes, want at most 30", perRank)
	}
}

// No message makes the parser panic or fill the memory.
func FuzzParsePlaces(f *testing.F) {
	f.Add(Place{"b", 2, nil}.appendText(Place{"a", -1, span(0, 9)}.appendText(nil)))
	f.Add([]byte("\"a\",1,zzzzzzzzzzzz\n,-1,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		places, err := parsePlaces(text, 2)
		if err == nil && len(places) != 2 {
			t.Errorf("%d places, want 2", len(places))
		}
	})
}

func TestAllowedCPUs(t *testing.T) {
	cpus := allowedCPUs()
	if runtime.GOOS != "linux" {
		if cpus != nil {
			t.Errorf("CPUs = %d, want none known", cpus)
		}
		return
	}
	// The runtime counts the bits of the same mask when the process starts.
	if len(cpus) != runtime.NumCPU() || !slices.IsSorted(cpus) {
		t.Errorf("CPUs = %d, want %d ascending", cpus, runtime.NumCPU())
	}
}
