package simnet_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// The peer is SimGrid's SMPI (package libsimgrid-dev). Its network model is
// set to what ours is without factors: CM02 with latency and bandwidth as they
// are, no bound by the window, and eager messages that do not wait for the receiver.

// peer compiles the patterns for SMPI and returns a function that runs one on
// a cluster and returns its simulated time in s, and the wall time.
func peer(t testing.TB, cluster string, ranks int, crossTraffic bool) func(pattern string, bytes, steps int) (float64, time.Duration) {
	t.Helper()
	tooltest.Need(t, "smpicc", "smpirun")
	dir := t.TempDir()
	program := filepath.Join(dir, "patterns")
	if out, err := exec.Command("smpicc", "-O2", "-o", program, filepath.Join("testdata", "patterns.c")).CombinedOutput(); err != nil {
		t.Fatalf("smpicc: %v\n%s", err, out)
	}
	platform, hosts := filepath.Join(dir, "platform.xml"), filepath.Join(dir, "hosts")
	xml := `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="h" suffix="" radical="0-%d" speed="10Gf" bw="1.25GBps" lat="5us" loopback_bw="10GBps" loopback_lat="0.2us" topology="FAT_TREE" topo_parameters="%s" sharing_policy="SPLITDUPLEX"/>
</platform>
`
	var names strings.Builder
	for r := range ranks {
		fmt.Fprintf(&names, "h%d\n", r)
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(platform, fmt.Sprintf(xml, ranks-1, cluster))
	write(hosts, names.String())
	cross := "0"
	if crossTraffic {
		cross = "1"
	}
	return func(pattern string, bytes, steps int) (float64, time.Duration) {
		t.Helper()
		run := exec.Command("smpirun", "-np", strconv.Itoa(ranks), "-platform", platform, "-hostfile", hosts,
			"--log=root.threshold:error", "--cfg=smpi/simulate-computation:no", "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
			"--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1", "--cfg=network/weight-S:0", "--cfg=network/crosstraffic:"+cross,
			"--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/send-is-detached-thresh:65536",
			program, pattern, strconv.Itoa(bytes), strconv.Itoa(steps))
		start := time.Now()
		out, err := run.Output()
		took := time.Since(start)
		if err != nil {
			t.Fatalf("smpirun: %v", err)
		}
		simulated, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			t.Fatalf("smpirun: %v", err)
		}
		return simulated, took
	}
}

// ours runs a pattern as peer does.
func ours(t testing.TB, cluster string, crossTraffic bool) func(pattern string, bytes, steps int) (float64, time.Duration) {
	g := graphOf(t, cluster)
	s := &simnet.Settings{EagerLimit: 65535, NoHandshake: true, FlowPerMessage: true, HollowAbove: 1}
	s.Routing = topology.ChooseModulo // d-mod-k, as SimGrid's fat trees
	if crossTraffic {
		s.Sharing = contention.Sharing{Coupling: 1, AckWeight: 0.05}
	}
	return func(pattern string, bytes, steps int) (float64, time.Duration) {
		buf := make([]byte, bytes)
		start := time.Now()
		report, err := simnet.Simulate(g, nil, s, func(c mpi.Communicator) error {
			switch pattern {
			case "binomial":
				return binomial(c, buf)
			case "chain":
				return chain(c, buf, steps)
			}
			return exchange(c, buf, steps)
		})
		if err != nil {
			t.Fatal(err)
		}
		return report.Seconds, time.Since(start)
	}
}

// exchange sends to a rank at some distance and receives from another, step by step.
func exchange(c mpi.Communicator, buf []byte, steps int) error {
	rank, n := c.Rank(), c.Size()
	set := c.(mpi.NonBlocking).NewRequests()
	for k := 1; k <= steps; k++ {
		distance := k * 37 % n
		if err := errors.Join(set.Irecv(buf, (rank+n-distance)%n, 0), set.Isend(buf, (rank+distance)%n, 0), set.WaitAll()); err != nil {
			return err
		}
	}
	return nil
}

func TestToolsTimesAgreeWithSimGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts smpirun a dozen times")
	}
	for _, p := range []struct {
		ours, smpi string
		ranks      int
	}{
		{"fattree:4,4,4;1,1,1", "3;4,4,4;1,1,1;1,1,1", 64}, // a tree with an eighth of the bandwidth at the top
		{"fattree:8,8;1,4", "2;8,8;1,4;1,1", 64},
	} {
		for _, cross := range []bool{false, true} {
			theirs, mine := peer(t, p.smpi, p.ranks, cross), ours(t, p.ours, cross)
			for _, c := range []struct {
				pattern      string
				bytes, steps int
			}{
				{"binomial", 8, 0},
				{"binomial", 1 << 20, 0},
				{"chain", 1 << 20, 8},
				{"exchange", 1 << 20, 3},
			} {
				want, _ := theirs(c.pattern, c.bytes, c.steps)
				got, _ := mine(c.pattern, c.bytes, c.steps)
				if math.Abs(got/want-1) > 0.03 {
					t.Errorf("%s, cross traffic %v: %s of %d bytes: %.9f s, SimGrid has %.9f", p.ours, cross, c.pattern, c.bytes, got, want)
				}
			}
		}
	}
}

// The same patterns over 1,024 ranks, for the wall time of both: that of SimGrid
// has the start of its process in it, which "empty" shows.
func BenchmarkPeerSimGrid(b *testing.B) {
	theirs, mine := peer(b, "3;8,16,8;1,1,1;1,1,1", 1024, false), ours(b, "fattree:8,16,8;1,1,1", false)
	for _, c := range []struct {
		name, pattern string
		bytes, steps  int
	}{
		{"empty", "exchange", 0, 0},
		{"binomial 1 MiB", "binomial", 1 << 20, 0},
		{"chain 64x16 KiB", "chain", 1 << 20, 64},
		{"exchange 8x64 KiB", "exchange", 64 << 10, 8},
	} {
		b.Run(c.name, func(b *testing.B) {
			var simulated, peerSimulated float64
			var wall, peerWall time.Duration
			for b.Loop() {
				var w, p time.Duration
				simulated, w = mine(c.pattern, c.bytes, c.steps)
				peerSimulated, p = theirs(c.pattern, c.bytes, c.steps)
				wall, peerWall = wall+w, peerWall+p
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(wall.Seconds()*1e3/float64(b.N), "ms")
			b.ReportMetric(peerWall.Seconds()*1e3/float64(b.N), "SimGrid-ms")
			b.ReportMetric(simulated*1e3, "virtual-ms")
			b.ReportMetric(peerSimulated*1e3, "SimGrid-virtual-ms")
		})
	}
}
