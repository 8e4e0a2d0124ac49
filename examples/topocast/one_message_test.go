package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestTimeAndPredictAgree: what one message takes is one figure, which Network.Time and Predict both say. The truth is the simulator: rank src
// sends one message, and its clock and that of rank dst tell begin and end. Above 64 KiB the simulator asks the receiver first, which
// takes two latencies of the route. Time and Predict are within 3 % of each other and within 5 % of the truth.
func TestTimeAndPredictAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	specs := []string{"tree:4x4 latency=40us,10us", "torus:4x4 latency=10us"}
	overheads := []time.Duration{2 * time.Microsecond}
	if tooltest.Long() {
		specs = append(specs, "tree:4x4 latency=1us,1us", "tree:2x3x4 latency=20us,5us,1us rate=10Gbps", "tree:4x4 latency=40us,10us rate=100Gbps,25Gbps", "star:8 latency=1us",
			"fattree:4 latency=1us", "fattree:4 latency=10us", "mesh:3x4 latency=1us", "mesh:4x4 latency=40us", "torus:4x4 latency=1us", "ring:8 latency=5us")
		overheads = []time.Duration{0, time.Microsecond, 2 * time.Microsecond}
	}
	for _, spec := range specs {
		for _, overhead := range overheads {
			t.Run(fmt.Sprint(spec, " ", overhead), func(t *testing.T) {
				c, err := simnet.ParseCluster(spec)
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
				for _, bytes := range []int64{8, 4 << 10, 64 << 10, 1 << 20} {
					var apart, timeOff, predictOff []float64
					for src := range n.Ranks() {
						for dst := range n.Ranks() {
							if src == dst || (src*7+dst*3)%4 != 0 {
								continue
							}
							truth := oneMessage(t, c, overhead.Seconds(), src, dst, int(bytes))
							predicted, err := n.Predict(nil, []model.Transfer{{Src: src, Dst: dst, Bytes: bytes}})
							if err != nil {
								t.Fatal(err)
							}
							time := n.Time(src, dst, bytes)
							apart = append(apart, math.Abs(predicted[0]/time-1))
							timeOff = append(timeOff, math.Abs(time/truth-1))
							predictOff = append(predictOff, math.Abs(predicted[0]/truth-1))
						}
					}
					a, b, p := slices.Max(apart), slices.Max(timeOff), slices.Max(predictOff)
					if a > 0.03 || b > 0.05 || p > 0.05 {
						t.Errorf("%d bytes: Predict is off Time by %.1f %%, want 3; Time off the truth by %.1f %%, Predict by %.1f %%, want 5", bytes, 100*a, 100*b, 100*p)
					}
				}
			})
		}
	}
}

// oneMessage is how long one message takes in s, from the moment that its sender calls to the moment that its receiver has it.
func oneMessage(t *testing.T, c *simnet.Cluster, overhead float64, src, dst, bytes int) float64 {
	settings := c.Settings()
	settings.Send, settings.Recv = simnet.Overhead{Seconds: overhead}, simnet.Overhead{Seconds: overhead}
	settings.ClockCost = -1
	var end float64
	err := simnet.Run(c.Graph, nil, settings, func(comm mpi.Communicator) error {
		switch comm.Rank() {
		case src:
			return comm.Send(make([]byte, bytes), dst, 0)
		case dst:
			err := comm.Recv(make([]byte, bytes), src, 0)
			end = comm.(mpi.Clock).Now()
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}
