package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// Reference: Bannikov and Salnikov 2014, section 2.3, items 6 and 7, equations 3
// and 4. Nodes a, b on one switch, c on another, bandwidths 2, 2, 1 and 4 between the
// switches; d on the second was not measured. By hand, with M(a,b) = 8, M(a,c) =
// M(b,c) = 7 both ways: a-b is shared out 1/2 : 1/2, that is 4 and 4; a-c by
// 1/2 : 1/4 : 1, that is 2, 1 and 4. Means: the link of a (4+2)/2 = 3, so of b;
// of c 4, between the switches 1. Specified, for messages of 6: 3, 3, 6, 1.5;
// a message of 5 makes the first two 2.5.
func TestMeanTimes(t *testing.T) {
	reference := topotest.Graph(t, 4, 2, []string{"a", "b", "c", "d", "s", "t"},
		[3]float64{0, 4, 2}, [3]float64{1, 4, 2}, [3]float64{2, 5, 1}, [3]float64{3, 5, 1}, [3]float64{4, 5, 4})
	wired := topotest.Graph(t, 3, 0, []string{"a", "b", "c"}, [3]float64{0, 1, 1}, [3]float64{0, 2, 1}, [3]float64{1, 2, 1})
	// The same machine as a method with switches finds it: its hosts meet too.
	switched := topotest.Graph(t, 3, 2, []string{"a", "b", "c", "x", "y"}, [3]float64{0, 3, 1}, [3]float64{1, 3, 1}, [3]float64{3, 4, 1}, [3]float64{2, 4, 1})
	times := mat.NewDense(3, 3, []float64{0, 8, 7, 8, 0, 7, 7, 7, 0})
	// Two processes of a: the mean of 6 and 10 is as before (equation 3), and the time between them does not count.
	processes := topotest.Graph(t, 4, 1, []string{"a", "b", "c", "a", "switch"}, [3]float64{0, 4, 1}, [3]float64{1, 4, 1}, [3]float64{2, 4, 1}, [3]float64{3, 4, 1})
	twice := mat.NewDense(4, 4, []float64{0, 6, 6, 1, 6, 0, 7, 10, 6, 7, 0, 8, 1, 10, 8, 0})
	for _, c := range []struct {
		measured *topology.Graph
		times    mat.Matrix
		bytes    float64
		want     []string
	}{
		{wired, times, 6, []string{"0-4 3 3", "1-4 3 3", "2-5 4 6", "3-5 NaN 6", "4-5 1 1.5"}},
		{wired, times, 5, []string{"0-4 3 2.5", "1-4 3 2.5", "2-5 4 5", "3-5 NaN 5", "4-5 1 1.25"}},
		{switched, times, 5, []string{"0-4 3 2.5", "1-4 3 2.5", "2-5 4 5", "3-5 NaN 5", "4-5 1 1.25"}},
		{processes, twice, 5, []string{"0-4 3 2.5", "1-4 3 2.5", "2-5 4 5", "3-5 NaN 5", "4-5 1 1.25"}},
		{wired, times, 0, []string{"0-4 3 NaN", "1-4 3 NaN", "2-5 4 NaN", "3-5 NaN NaN", "4-5 1 NaN"}},
	} {
		specified := specifiedTimes(reference, c.bytes)
		measured, err := meanTimes(c.measured, c.times, reference, specifiedTimes(reference, max(1, c.bytes)))
		if err != nil {
			t.Fatal(err)
		}
		var links []string
		for i, a := range reference.Arcs() {
			if a.From < a.To {
				links = append(links, fmt.Sprintf("%d-%d %.6g %.6g", a.From, a.To, measured[i], specified[i]))
			}
		}
		if !slices.Equal(links, c.want) {
			t.Errorf("%g bytes: links = %q, want %q", c.bytes, links, c.want)
		}
	}
}

// Four hosts on one switch with links of 1 GB/s, on which 1 MB takes 1 ms. Measured are 2 ms between a, b and c, two
// links, but 4 ms to and from d. By hand: d-switch 4/2 = 2 ms, the others (1 + 1 + 2)/3 ms.
func TestMeanTimesOfASlowHost(t *testing.T) {
	machine := topotest.Graph(t, 4, 1, []string{"a", "b", "c", "d", "switch"}, [3]float64{0, 4, 1e9}, [3]float64{1, 4, 1e9}, [3]float64{2, 4, 1e9}, [3]float64{3, 4, 1e9})
	times := mat.NewDense(4, 4, []float64{
		0, 2e-3, 2e-3, 4e-3,
		2e-3, 0, 2e-3, 4e-3,
		2e-3, 2e-3, 0, 4e-3,
		4e-3, 4e-3, 4e-3, 0,
	})
	got, err := meanTimes(machine, times, machine, specifiedTimes(machine, 1e6))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range machine.Arcs() {
		want := 4e-3 / 3
		if a.From == 3 || a.To == 3 {
			want = 2e-3
		}
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("%s to %s: %g s, want %g", machine.Name(a.From), machine.Name(a.To), got[i], want)
		}
	}
}

// No link of a machine is slower than itself.
func TestMeanTimesOfTheSameMachine(t *testing.T) {
	for _, spec := range []string{"tree:4x8 latency=3us,1us", "torus:4x6", "ring:6 hosts=4", "fattree:4", "star:2"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Latencies()
		if err != nil {
			t.Fatal(err)
		}
		specified := specifiedTimes(c.Graph, 0)
		got, err := meanTimes(c.Graph, d, c.Graph, specified)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range c.Graph.Arcs() {
			if got[i] > specified[i]*(1+1e-9) || math.IsNaN(got[i]) && spec != "fattree:4" {
				t.Errorf("%s: arc %d to %d takes %g s, specified are %g", spec, a.From, a.To, got[i], specified[i])
			}
		}
	}
}

func TestMeanTimesRefusesHostsOfOneName(t *testing.T) {
	two := topotest.Graph(t, 2, 0, []string{"a", "b"}, [3]float64{0, 1, 1})
	same := topotest.Graph(t, 2, 0, []string{"a", "a"}, [3]float64{0, 1, 1})
	if got, err := meanTimes(two, mat.NewDense(2, 2, nil), same, specifiedTimes(same, 1)); err == nil {
		t.Errorf("two specified hosts of one name: %v, want an error", got)
	}
}
