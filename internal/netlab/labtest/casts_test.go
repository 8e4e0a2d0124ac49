//go:build linux

package labtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
)

// The clusters of the figures: hosts' links of 200 Mbit/s, uplinks of 100 Mbit/s, a rank
// on each host; or all of it so many times slower, where the processor that the ranks share is that much faster
// beside the links.
func castClusters(slow float64) []struct{ name, spec string } {
	us, mbps := func(x float64) string { return fmt.Sprintf("%gus", x*slow) }, func(x float64) string { return fmt.Sprintf("%gMbps", x/slow) }
	rack := fmt.Sprintf("latency=%s,%s rate=%s,%s", us(200), us(100), mbps(100), mbps(200))
	return []struct{ name, spec string }{
		{"racks", "tree:2x4 " + rack},
		{"levels", fmt.Sprintf("tree:2x2x3 latency=%s,%s,%s rate=%s,%s,%s", us(400), us(200), us(100), mbps(100), mbps(100), mbps(200))},
		{"uneven", "tree:[2,5,5] " + rack},
	}
}

func castOrders() []string { return []string{"block", "round-robin", "shuffled"} }

// castPlace is the host of each rank: racks are filled one after the other, have ranks in
// turn as long as they have hosts left, or have them at random.
func castPlace(c *netlab.Cluster, order string) []int {
	block := make([]int, c.Graph.Hosts())
	for i := range block {
		block[i] = i
	}
	switch order {
	case "round-robin":
		seen := make(map[int]int) // hosts of a switch so far
		turn := make([]int, len(block))
		for _, a := range c.Graph.Arcs() {
			if a.From < len(block) {
				turn[a.From] = seen[a.To]
				seen[a.To]++
			}
		}
		slices.SortStableFunc(block, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	case "shuffled":
		random := rand.New(rand.NewPCG(1, 0))
		random.Shuffle(len(block), func(i, k int) { block[i], block[k] = block[k], block[i] })
	}
	return block
}

// TestCastPlace: hosts 0 to 1, 2 to 6 and 7 to 11 are the racks.
func TestCastPlace(t *testing.T) {
	c, err := netlab.DecodeCluster(strings.NewReader(`{"format":"topocast/netlab","version":1,"spec":"tree:[2,5,5] latency=200us,100us rate=100Mbps,200Mbps"}`), "", "x")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := castPlace(c, "round-robin"), []int{0, 2, 7, 1, 3, 8, 4, 9, 5, 10, 6, 11}; !slices.Equal(got, want) {
		t.Errorf("round robin: %v, want %v", got, want)
	}
	shuffled := castPlace(c, "shuffled")
	if slices.IsSorted(shuffled) {
		t.Errorf("shuffled: %v", shuffled)
	}
	slices.Sort(shuffled)
	if !slices.Equal(shuffled, castPlace(c, "block")) {
		t.Errorf("shuffled and sorted: %v", shuffled)
	}
}

func castSizes() []int { return []int{8, 1 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20} }

// The environment of the benchmarks of broadcasts.
const (
	castDir    = "TOPOCAST_LAB_DIR"    // where cells and networks are kept; default: nowhere
	castRounds = "TOPOCAST_LAB_ROUNDS" // per cell, default 51
	castBudget = "TOPOCAST_LAB_BUDGET" // s per cell, default 6
	castBytes  = "TOPOCAST_LAB_SIZES"  // bytes, by commas
	castSlow   = "TOPOCAST_LAB_SLOW"   // how many times slower the links are
)

// discoverBudget is how long the network of a lab is measured. Twelve hosts take that.
const discoverBudget = time.Minute

// A castLab runs broadcasts on a cluster that is up.
type castLab struct {
	lab      *netlab.Lab
	dir      string // of what is kept
	topocast string // the command line
	yield    bool   // ranks that wait yield, and do not sleep
}

// castPrograms builds what runs on the labs.
func castPrograms(tb testing.TB) (*netlab.Settings, *castLab) {
	s := labSettings(tb)
	l := &castLab{dir: os.Getenv(castDir), topocast: build(tb, topocastFolder)}
	if l.dir == "" {
		l.dir = tb.TempDir()
	} else if err := os.MkdirAll(l.dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	return s, l
}

// up starts a cluster until the end of the test.
func (l *castLab) up(tb testing.TB, s *netlab.Settings, name, spec string) *castLab {
	running := *l
	running.lab = labUp(tb, s, name, fmt.Sprintf(`"spec":%q`, spec))
	return &running
}

// run runs a program, one rank per host, and returns what it printed.
func (l *castLab) run(tb testing.TB, library, order string, limit time.Duration, options []string, program ...string) string {
	tb.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("no end within %v", limit))
	defer cancel()
	var out strings.Builder
	job := &netlab.Job{MPI: library, Place: castPlace(l.lab.Cluster, order), Options: options, Program: program, Yield: l.yield}
	if err := l.lab.Run(ctx, job, &out, &out); err != nil {
		tb.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// network returns the file of the network that topocast discover finds under a library, with
// ranks in block order. It is measured once and kept.
func (l *castLab) network(tb testing.TB, library string) string {
	file := networkFile(l.dir, l.lab.Cluster.Name, library)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	tb.Log(l.run(tb, library, "block", 2*discoverBudget, nil,
		l.topocast, "discover", "--output", file, "--budget", discoverBudget.String()))
	return file
}

func networkFile(dir, cluster, library string) string {
	return filepath.Join(dir, "network-"+cluster+"-"+library+".json")
}

// casts runs a job, keeps what it measured and returns it.
func (l *castLab) casts(tb testing.TB, library, order, forced string, options []string, job *castJob) []castCell {
	tb.Helper()
	dir := tb.TempDir()
	spec, report := filepath.Join(dir, "job.json"), filepath.Join(dir, "rows.json")
	text, err := json.Marshal(job)
	if err == nil {
		err = os.WriteFile(spec, text, 0o644)
	}
	if err != nil {
		tb.Fatal(err)
	}
	// Choices between plans take as long as some ten broadcasts of each, a minute for 8 MiB, and
	// a broadcast is not broken off.
	limit := 5*time.Minute + time.Duration(len(job.Roots)*len(job.Sizes))*(time.Minute+time.Duration(2*job.Budget*1e9))
	l.run(tb, library, order, limit, options, program(tb, "-casts", spec, "-report", report)...)
	if text, err = os.ReadFile(report); err != nil {
		tb.Fatal(err)
	}
	var rows []castRow
	if err := json.Unmarshal(text, &rows); err != nil {
		tb.Fatal(err)
	}
	place := castPlace(l.lab.Cluster, order)
	var cells []castCell
	for _, row := range rows {
		bound, err := castBound(l.lab.Cluster, place[row.Root], row.Bytes)
		if job.Allreduce {
			bound, err = allreduceBound(l.lab.Cluster, row.Bytes)
		}
		if err != nil {
			tb.Fatal(err)
		}
		cells = append(cells, castCell{Cluster: l.lab.Cluster.Name, MPI: library, Order: order, Forced: forced, Bound: bound, Allreduce: job.Allreduce, castRow: row})
	}
	if err := appendCells(l.dir, cells); err != nil {
		tb.Fatal(err)
	}
	return cells
}

// environment is a number of the environment.
func environment(tb testing.TB, name string, usual float64) float64 {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		tb.Fatalf("%s=%s: %v", name, text, err)
	}
	return x
}

// newCastJob is what the environment asks for, from the first rank and one in the middle.
func newCastJob(tb testing.TB, l *castLab, sizes []int) *castJob {
	if list := os.Getenv(castBytes); list != "" {
		sizes = nil
		for _, word := range strings.Split(list, ",") {
			n, err := strconv.Atoi(word)
			if err != nil {
				tb.Fatalf("%s: %v", castBytes, err)
			}
			sizes = append(sizes, n)
		}
	}
	return &castJob{
		Roots: []int{0, l.lab.Cluster.Graph.Hosts()/2 + 1}, Sizes: sizes,
		Rounds: int(environment(tb, castRounds, 51)), Budget: environment(tb, castBudget, 6),
	}
}

// BenchmarkBroadcast prints how much faster than the library's own our broadcast is, and how
// far from the bound, on clusters under both libraries and with ranks in any order, along
// the network that topocast discover has found. It names the cells that are slower. Some 40
// minutes on a quiet machine, 15 with TOPOCAST_LAB_BUDGET=1; parts by -bench, as
// Broadcast/racks/mpich/block. What runs into one TOPOCAST_LAB_DIR have measured is merged.
//
//	TOPOCAST_REQUIRE_LAB=1 TOPOCAST_LAB_DIR=/tmp/figures go test ./internal/netlab/labtest -run - -bench Broadcast -benchtime 1x -timeout 4h
//
// With TOPOCAST_LAB_SLOW=10 the bound is ten times as long and the processor's share of it a tenth: what is then nearer to the
// bound was kept from it by the one core that the ranks share.
func BenchmarkBroadcast(b *testing.B) { benchmarkCells(b, false) }

// BenchmarkAllreduce prints the same of Allreduces of float64, and how much longer reproducible ones take.
func BenchmarkAllreduce(b *testing.B) { benchmarkCells(b, true) }

func benchmarkCells(b *testing.B, allreduce bool) {
	s, programs := castPrograms(b)
	for _, cluster := range castClusters(environment(b, castSlow, 1)) {
		b.Run(cluster.name, func(b *testing.B) {
			l := programs.up(b, s, cluster.name, cluster.spec)
			for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
				b.Run(library, func(b *testing.B) {
					network := l.network(b, library)
					for _, order := range castOrders() {
						b.Run(order, func(b *testing.B) {
							for b.Loop() {
								job := newCastJob(b, l, castSizes())
								job.Network, job.Allreduce = network, allreduce
								for _, c := range l.casts(b, library, order, "", nil, job) {
									fmt.Println(c.line())
								}
							}
						})
					}
				})
			}
		})
	}
	printFigures(b, programs.dir)
}
