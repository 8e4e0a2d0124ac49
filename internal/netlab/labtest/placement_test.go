//go:build linux

package labtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/internal/tooltest"
)

// placeSpec is two racks of two hosts.
const placeSpec = "tree:2x2 latency=200us,100us rate=100Mbps,200Mbps"

// A placeLab places ranks on a lab.
type placeLab struct {
	lab          *netlab.Lab
	topocast, cg string
	folder       string // of the files
}

func newPlaceLab(tb testing.TB) *placeLab {
	s := labSettings(tb)
	return &placeLab{
		topocast: build(tb, topocastFolder), cg: build(tb, "../../../examples/cg"),
		lab: labUp(tb, s, "placed", fmt.Sprintf(`"spec":%q,"ranks_per_host":4`, placeSpec)), folder: tb.TempDir(),
	}
}

func (l *placeLab) file(name string) string { return filepath.Join(l.folder, name) }

// write writes a file of the folder.
func (l *placeLab) write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.WriteFile(l.file(name), []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// An order is where the ranks of jobs run: on given hosts, or where the launcher is told to put them.
type order struct {
	hosts   []int
	mapping []string
}

// ordered are so many ranks per host, in block order or in turn.
func (l *placeLab) ordered(tb testing.TB, how string, perHost int) order {
	tb.Helper()
	hosts, err := scenario.Placement(how, perHost*l.lab.Cluster.Graph.Hosts(), l.lab.Cluster.Graph, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return order{hosts: hosts}
}

// job runs a program and returns what it has printed.
func (l *placeLab) job(tb testing.TB, library string, o order, program ...string) string {
	tb.Helper()
	ctx, cancel := context.WithTimeoutCause(tb.Context(), jobLimit, fmt.Errorf("no end within %v", jobLimit))
	defer cancel()
	var out strings.Builder
	if err := l.lab.Run(ctx, &netlab.Job{MPI: library, Place: o.hosts, Mapping: o.mapping, Program: program}, &out, &out); err != nil {
		tb.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// exchange times an exchange of so many bytes in all, or of those in a table.
func (l *placeLab) exchange(tb testing.TB, library string, o order, bytes string) (found exchange) {
	tb.Helper()
	report := l.file("exchange.json")
	l.job(tb, library, o, program(tb, "-alltoall", bytes, "-network", l.file("network.json"), "-report", report)...)
	text, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// place runs topocast place, which needs no lab.
func (l *placeLab) place(tb testing.TB, arguments ...string) string {
	tb.Helper()
	out, err := exec.Command(l.topocast, append([]string{"place"}, arguments...)...).CombinedOutput()
	if err != nil {
		tb.Fatalf("topocast place %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// A placedJob is what topocast place --json prints.
type placedJob struct {
	Ranks []struct {
		Host string
		Core int
	}
	Cost    float64 `json:"cost_s"`
	InOrder float64 `json:"cost_in_order_s"`
}

// at are the hosts and cores of the ranks, as an exchange reports them.
func (p *placedJob) at() (all []string) {
	for _, r := range p.Ranks {
		all = append(all, fmt.Sprint(r.Host, " ", r.Core))
	}
	return all
}

// chosen are the places that topocast place chooses.
func (l *placeLab) chosen(tb testing.TB, arguments ...string) (*placedJob, order) {
	tb.Helper()
	p := new(placedJob)
	if err := json.Unmarshal([]byte(l.place(tb, append([]string{"--json"}, arguments...)...)), p); err != nil {
		tb.Fatal(err)
	}
	var o order
	for _, r := range p.Ranks {
		o.hosts = append(o.hosts, slices.IndexFunc(l.lab.Machines(), func(m netlab.Machine) bool { return m.Name == r.Host }))
	}
	return p, o
}

// byRankfile is a rankfile for hosts that are filled so, whose first line is the command that takes it.
func (l *placeLab) byRankfile(tb testing.TB, name, text string, hosts []int) order {
	tb.Helper()
	l.write(tb, name, text)
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.Replace(first, "FILE", l.file(name), 1))
	return order{hosts, words[2:]} // # mpirun
}

// TestPlacement is Servet's chain to its end (section 6.2), on two racks of two hosts with two ranks each, bound to cores: the
// network is discovered, ranks are placed by who talks to whom, and each is where the rankfile of Open MPI or the list of hosts of
// MPICH says. There an exchange of those who talk takes less than in block order, as predicted, and cg's results are right.
func TestPlacement(t *testing.T) {
	if os.Getenv(requireVariable) != "" && runtime.NumCPU() < 2 {
		tooltest.Lacks(t, "there is one core to choose from")
	}
	l := newPlaceLab(t)
	const ranks, perHost = 8, 2
	block := l.ordered(t, "block", perHost)
	byHand := "# mpirun --mca rmaps_rank_file_physical 1 --rankfile FILE\n"
	for rank, h := range block.hosts {
		byHand += fmt.Sprintf("rank %d=%s slot=%d\n", rank, l.lab.Machines()[h].Name, rank%perHost)
	}
	bound := l.byRankfile(t, "block.txt", byHand, block.hosts)
	// Even ranks talk to each other, and odd ones. In block order 4 of the messages from each rack to the other are under way
	// together, and then twice 2, over a link that takes 8 ms for each: 64 ms. By place each four have a rack, where it is 1, 2
	// and 1 over links of hosts that take 4 ms: 16 ms.
	var traffic strings.Builder
	for i := range ranks {
		cells := slices.Repeat([]string{"0"}, ranks)
		for k := i % 2; k < ranks; k += 2 {
			if k != i {
				cells[k] = "100000"
			}
		}
		fmt.Fprintln(&traffic, strings.Join(cells, ","))
	}
	l.write(t, "traffic.csv", traffic.String())
	judge(t, 2, func() (faults []string, fabric netlab.Loop) {
		if _, err := l.lab.Reset(); err != nil {
			t.Fatal(err)
		}
		l.job(t, netlab.OpenMPI, bound, l.topocast, "discover", "--two-level", "--budget", "30s", "--patterns", "0", "-o", l.file("network.json"))
		placed, hosts := l.chosen(t, l.file("network.json"), l.file("traffic.csv"))
		if !(placed.Cost < placed.InOrder) {
			faults = append(faults, fmt.Sprintf("by place it costs %g s, in block order %g", placed.Cost, placed.InOrder))
		}
		rankfile := l.byRankfile(t, "ranks.txt", l.place(t, "--format", "rankfile", l.file("network.json"), l.file("traffic.csv")), block.hosts)
		for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
			before, after := bound, rankfile
			if library == netlab.MPICH { // Hydra takes a host per rank
				before, after = block, hosts
			}
			in, by := l.exchange(t, library, before, l.file("traffic.csv")), l.exchange(t, library, after, l.file("traffic.csv"))
			expectPlaces(t, library, by.At, placed.at(), library == netlab.OpenMPI)
			t.Logf("%s: block order %.1f ms, predicted %.1f; by place %.1f, predicted %.1f", library, 1e3*in.Seconds, 1e3*in.Predicted, 1e3*by.Seconds, 1e3*by.Predicted)
			if !(by.Seconds < in.Seconds) || !(by.Predicted < in.Predicted) {
				faults = append(faults, library+": an exchange by place does not take less, or is not predicted to")
			}
			if out := l.job(t, library, after, l.cg, "-n", "16", "-repeat", "1", "-network", l.file("network.json")); !strings.Contains(out, "The results are right") {
				t.Errorf("%s: cg says\n%s", library, out)
			}
		}
		// Servet's rules deal ranks out in turn, which Hydra can do with cores, too.
		dealt, _ := l.chosen(t, "--method", "servet", l.file("network.json"))
		hydra := order{block.hosts, strings.Fields(l.place(t, "--format", "mpich", "--method", "servet", l.file("network.json")))}
		expectPlaces(t, netlab.MPICH, l.exchange(t, netlab.MPICH, hydra, "100000").At, dealt.at(), true)
		counters, err := l.lab.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return faults, counters.Loop
	})
}

// expectPlaces wants ranks on the hosts, and the cores if these count, where they were placed.
func expectPlaces(t *testing.T, library string, got, want []string, cores bool) {
	t.Helper()
	for rank, at := range want {
		if rank >= len(got) || !strings.HasPrefix(got[rank], strings.Fields(at)[0]+" ") || cores && got[rank] != at {
			t.Errorf("%s: ranks are at %q, want %q", library, got, want)
			return
		}
	}
}

// BenchmarkPlacement prints how long cg and an exchange of all with all take on two racks of two hosts of up to four ranks (Servet
// 3.0, section 6.2): with 1, 2 and 4 ranks per host in block order, and with 4 in turn and by place, from who talks to whom in cg;
// predicted and measured, and how many place --ranks-per-host auto takes. Some 4 minutes.
//
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench Placement -benchtime 1x -timeout 20m
func BenchmarkPlacement(b *testing.B) {
	l := newPlaceLab(b)
	rows := []string{"| library | ranks per host | order | cg, predicted (edges) | cg | all to all, predicted | all to all |", "| --- | --- | --- | --- | --- | --- | --- |"}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		b.Run(library, func(b *testing.B) {
			for b.Loop() {
				rows = append(rows, l.table(b, library)...)
			}
		})
	}
	fmt.Printf("\n%s; 2 MiB in all, cg of 256 x 256; times in ms, medians of %d\n\n%s\n", placeSpec, alltoallRepeats, strings.Join(rows, "\n"))
}

// table are the rows of a library.
func (l *placeLab) table(tb testing.TB, library string) (rows []string) {
	const most = 4 // ranks per host
	network, traffic := l.file("network.json"), l.file("traffic.csv")
	tb.Log(l.job(tb, library, l.ordered(tb, "block", most), l.topocast, "discover", "--degradation", "--budget", "40s", "-o", network))
	row := func(perHost int, how string, o order) {
		out := l.job(tb, library, o, l.cg, "-n", "256", "-repeat", strconv.Itoa(alltoallRepeats), "-tolerance", "1e-2", "-network", network, "-traffic", traffic)
		predicted, measured := cgTimes(tb, out)
		all := l.exchange(tb, library, o, strconv.Itoa(2<<20))
		rows = append(rows, fmt.Sprintf("| %s | %d | %s | %s | %s | %.2f | %.2f |", library, perHost, how, predicted, measured, 1e3*all.Predicted, 1e3*all.Seconds))
	}
	for perHost := 1; perHost <= most; perHost *= 2 {
		row(perHost, "block", l.ordered(tb, "block", perHost))
	}
	row(most, "in turn", l.ordered(tb, "cyclic", most))
	_, placed := l.chosen(tb, network, traffic) // of as many ranks, which the last cg has written
	row(most, "by place", placed)
	auto, _ := l.chosen(tb, "--ranks-per-host", "auto", network)
	return append(rows, fmt.Sprintf("| %s | %d | `place --ranks-per-host auto` | | | | |", library, len(auto.Ranks)/l.lab.Cluster.Graph.Hosts()))
}

// cgTimes are the times in ms of the library's own Allreduce with ranks by rows, as cg prints them: that which is predicted for the
// edges, and that of the whole.
func cgTimes(tb testing.TB, out string) (predicted, measured string) {
	tb.Helper()
	for _, line := range strings.Split(out, "\n") {
		words := strings.Fields(line)
		if len(words) == 9 && words[0] == "by" && words[1] == "rows" && words[2] == "native" {
			return words[8], words[4]
		}
	}
	tb.Fatalf("no time of cg in\n%s", out)
	return "", ""
}
