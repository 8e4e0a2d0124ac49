package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
)

// TestTimesOnEveryWiring: what every message pays at its ends is part of the network. The truth is the simulator's rule: the latencies
// of the links on the shortest way, and the overhead of the sender and of the receiver. Times of 8 bytes are within 2 % in the
// median and 5 % at worst, and no broadcast is faster than the bound.
func TestTimesOnEveryWiring(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	specs := []string{"torus:4x4 latency=1us rate=10Gbps", "tree:3x4 latency=10us,2us rate=10Gbps"}
	overheads := []time.Duration{0, 2 * time.Microsecond}
	if tooltest.Long() {
		specs = append(specs, "mesh:3x4 latency=1us rate=10Gbps", "ring:8 latency=1us rate=10Gbps", "line:7 latency=1us rate=10Gbps",
			"dragonfly:1,3,2", "fattree:4", "torus:4x4 hosts=2", "torus:3x3x3 latency=1us rate=10Gbps")
		overheads = []time.Duration{0, time.Microsecond, 2 * time.Microsecond}
	}
	for _, spec := range specs {
		for _, overhead := range overheads {
			t.Run(fmt.Sprint(strings.Fields(spec)[0], " ", overhead), func(t *testing.T) {
				c, err := gen.Parse(spec)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "network.json")
				if status, _, stderr := topocast("discover", "--sim", spec, "--overhead", overhead.String(), "--output", file); status != 0 {
					t.Fatalf("discover: status %d: %s", status, stderr)
				}
				n, err := model.Load(file)
				if err != nil {
					t.Fatal(err)
				}
				distances, hosts := c.Graph.HostDistances(), c.Graph.Hosts()
				var off []float64
				for i := range hosts {
					for j := range hosts {
						if i != j {
							off = append(off, math.Abs(n.Time(i, j, 8)/(distances[i*hosts+j]+2*overhead.Seconds())-1))
						}
					}
				}
				slices.Sort(off)
				if median, worst := off[len(off)/2], off[len(off)-1]; median > 0.02 || worst > 0.05 {
					t.Errorf("times of 8 bytes are off by %.1f %% in the median, %.1f %% at worst, want at most 2 and 5", 100*median, 100*worst)
				}
				// Without noise: it goes both ways in simulations, and makes single messages faster than their links.
				status, out, stderr := topocast("bcast", "--sim", spec, "--fault", "noise 0%", "--overhead", overhead.String(), "--sizes", "8", "--only", "ours", "--repetitions", "5", "--json", file)
				var report struct {
					Rows []struct {
						Least float64 `json:"min_s"`
						Bound float64 `json:"bound_s"`
					} `json:"rows"`
				}
				if err := json.Unmarshal([]byte(out), &report); status != 0 || err != nil || len(report.Rows) == 0 {
					t.Fatalf("bcast: status %d, %v: %s%s", status, err, stderr, out)
				}
				for _, row := range report.Rows {
					if !(row.Least >= row.Bound) {
						t.Errorf("a broadcast takes %g s, its bound is %g s", row.Least, row.Bound)
					}
				}
			})
		}
	}
}

// TestDiscoverSaysWhichBudget: where the budget is too small for the parameters of all pairs, the error says what is enough, and it is.
func TestDiscoverSaysWhichBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	discover := func(budget string) (status int, stderr string) {
		status, _, stderr = topocast("discover", "--distance", "rtt", "--sim", "core:2 host:3 latency=10us,1us rate=10Gbps", "--patterns", "0", "--budget", budget, "--output", filepath.Join(t.TempDir(), "n.json"))
		return status, stderr
	}
	for _, budget := range []string{"50ms", "500ms"} { // which end within the first pair
		status, stderr := discover(budget)
		if status == 0 || !strings.Contains(stderr, " of the budget of "+budget+", which ended after 0 of 15 rounds") || !strings.Contains(stderr, "give it a larger one") {
			t.Errorf("with %s: status %d: %s", budget, status, stderr)
		}
	}
	status, stderr := discover("4s")
	_, budget, found := strings.Cut(stderr, ": give it about ")
	// Parameters get half of what latencies leave, which take some milliseconds.
	if status == 0 || !found || !strings.Contains(stderr, "PLogP parameters had 1.9") || !strings.Contains(stderr, " s of the budget of 4s") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if status, stderr := discover(strings.TrimSpace(budget)); status != 0 {
		t.Errorf("with %s: status %d: %s", budget, status, stderr)
	}
}
