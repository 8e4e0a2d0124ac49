package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// wiredAndRead writes three racks of four hosts as a graph, simulates it, and measures messages of two sizes.
func wiredAndRead(t *testing.T) (network, measurements string) {
	t.Helper()
	var graph strings.Builder
	for v := range 12 {
		fmt.Fprintf(&graph, "%d h%d\n", v, v)
	}
	graph.WriteString("12 s0 (switch)\n13 s1 (switch)\n14 s2 (switch)\n15 s3 (switch)\n#\n")
	for v := range 12 {
		fmt.Fprintf(&graph, "%d %d l: 2 t: 1250\n", v, 13+v/4)
	}
	graph.WriteString("13 12 l: 10 t: 1250\n14 12 l: 10 t: 1250\n15 12 l: 10 t: 1250\n")
	network = write(t, "wiring.tgf", graph.String())
	measurements = filepath.Join(t.TempDir(), "readings.json")
	status, _, stderr := topocast("measure", "--sim", network, "--sizes", "8,4KiB", "--repetitions", "2", "-o", measurements)
	if status != 0 {
		t.Fatalf("measure: status %d: %s", status, stderr)
	}
	return network, measurements
}

type correctedFile struct {
	Format       string
	Bytes        int64
	Forwarding   string
	Measurements int `json:"readings"`
	Fits         []struct {
		Forwarding string
		R2         float64
	}
	Links []struct {
		Ends       []string
		Latency    float64 `json:"latency_s"`
		Determined bool
	}
	Warnings []string
}

func corrected(t *testing.T, args ...string) (c correctedFile) {
	t.Helper()
	status, out, stderr := topocast(append([]string{"network", "correct", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &c); status != 0 || err != nil {
		t.Fatalf("correct %v: status %d, %v: %s", args, status, err, stderr)
	}
	return c
}

// TestCorrectTakesOutTheBytes: simulated switches cut through. 4 KiB take 3.277 us over the slowest
// link, and 0.3 us of software at each end, so a host's link of 2 us reads 2.3 us cut-through; uncorrected
// half of the bytes' time more, 3.94 us; and stored and forwarded, where each link loses 3.277 us,
// 0.66 us and uplinks 6.72 instead of 10 us (Bufe 2014, section 2.4).
func TestCorrectTakesOutTheBytes(t *testing.T) {
	network, measurements := wiredAndRead(t)
	for _, c := range []struct {
		flags        []string
		host, uplink float64 // us
	}{
		{nil, 2.3, 10}, // of 8 B
		{[]string{"--bytes", "4KiB"}, 2.3, 10},
		{[]string{"--bytes", "4KiB", "--forwarding", "store-and-forward"}, 0.66, 6.72},
		{[]string{"--bytes", "4KiB", "--forwarding", "none", "--plain"}, 3.94, 10},
	} {
		got := corrected(t, append(c.flags, network, measurements)...)
		if got.Format != "topocast/correction" || got.Measurements != 12*11 || len(got.Links) != 15 || len(got.Fits) != 3 {
			t.Fatalf("%v: %+v", c.flags, got)
		}
		for _, l := range got.Links {
			want := c.host
			if strings.HasPrefix(l.Ends[0], "s") { // two switches
				want = c.uplink
			}
			// 4 KiB take 7 to 27 us, which scatter by 1 %: so may both kinds of links.
			if math.Abs(l.Latency*1e6-want) > 0.4 || !l.Determined {
				t.Errorf("%v: link %v takes %.3f us, determined %v: want %.2f us", c.flags, l.Ends, l.Latency*1e6, l.Determined, want)
			}
		}
		for _, f := range got.Fits {
			if f.R2 < 0.99 {
				t.Errorf("%v: R2 %g with %s", c.flags, f.R2, f.Forwarding)
			}
		}
	}

	// The network that is kept has the latencies, and says how it came by them.
	kept := filepath.Join(t.TempDir(), "corrected.json")
	status, out, stderr := topocast("network", "correct", "-o", kept, "--bytes", "4KiB", "--forwarding", "store-and-forward", network, measurements)
	if status != 0 || !strings.Contains(out, "store-and-forward") || !strings.Contains(out, "h11 - s3") {
		t.Errorf("status %d: %s\n%s", status, stderr, out)
	}
	n, err := cli.LoadNetwork(nil, kept)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Graph().Out(0)[0]; math.Abs(got.Latency*1e6-0.66) > 0.4 || math.IsNaN(got.Bandwidth) {
		t.Errorf("the network kept has %+v, want 0.66 us and its bandwidth", got)
	}
	if note := n.Measured().Notes["latencies of links"]; !strings.Contains(note, "store-and-forward, 4 KiB") {
		t.Errorf("the network kept notes %q", note)
	}
}

// TestCorrectForeignFiles: three hosts on a switch as a graph of yEd and a matrix whose rows have another
// order. Reference: Bufe 2014, equation 2.4, with a-b 3, a-c 5, b-c 6: links of 1, 2 and 4.
func TestCorrectForeignFiles(t *testing.T) {
	tgf := write(t, "star.tgf", "1 a\n2 b\n3 c\n4 switch\n#\n1 4 t: 8\n2 4 t: 8\n3 4 t: 8\n")
	matrix := write(t, "m.csv", "# unit: us\n,c,a,b\nc,,5,6\na,5,,3\nb,6,3,\n")
	for _, c := range []struct {
		flags []string
		want  []float64 // us
		warn  string
	}{
		{nil, []float64{1, 2, 4}, "--bytes says it"},
		{[]string{"--bytes", "4"}, []float64{0.75, 1.75, 3.75}, ""}, // 0.5 us over a path
		{[]string{"--bytes", "4", "--forwarding", "store-and-forward"}, []float64{0.5, 1.5, 3.5}, ""},
	} {
		got := corrected(t, append(c.flags, "--unit", "us", tgf, matrix)...)
		for i, l := range got.Links {
			if math.Abs(l.Latency*1e6-c.want[i]) > 1e-6 || l.Ends[1] != "switch" {
				t.Errorf("%v: link %v takes %g us, want %g", c.flags, l.Ends, l.Latency*1e6, c.want[i])
			}
		}
		if said := strings.Join(got.Warnings, "; "); !strings.Contains(said, c.warn) || c.warn == "" && said != "" {
			t.Errorf("%v: warns %q, want %q", c.flags, said, c.warn)
		}
	}

	// Of an even ring of pairs only sums are known (equation 2.7); odd ones say it all.
	for hosts, determined := range map[int]bool{4: false, 5: true} {
		var graph, cells strings.Builder
		for v := range hosts {
			fmt.Fprintf(&graph, "%d h%d\n", v, v)
		}
		graph.WriteString("9 switch\n#\n")
		for v := range hosts {
			fmt.Fprintf(&graph, "%d 9\n", v)
			for w := range hosts {
				if w == (v+1)%hosts || v == (w+1)%hosts {
					fmt.Fprint(&cells, 2)
				}
				cells.WriteString(map[bool]string{true: "\n", false: ","}[w == hosts-1])
			}
		}
		status, out, stderr := topocast("network", "correct", "--unit", "us", write(t, "ring.tgf", graph.String()), write(t, "ring.csv", cells.String()))
		if sums := strings.Contains(out, "only sums"); status != 0 || sums == determined {
			t.Errorf("ring of %d pairs: status %d: %s: determined %v, want %v:\n%s", hosts, status, stderr, !sums, determined, out)
		}
	}
}

// TestRepetitionsOfASize: a measurement that ended in its first repetition has one of each size, not the planned two.
func TestRepetitionsOfASize(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "m.json")
	if status, _, stderr := topocast("measure", "--sim", "star:4", "--sizes", "8,4KiB", "--repetitions", "2", "-o", whole); status != 0 {
		t.Fatal(stderr)
	}
	var begun strings.Builder // as the journal of a run that was killed
	for line := range strings.Lines(read(t, whole)) {
		if !strings.HasPrefix(line, "[1,") && !strings.HasPrefix(line, `{"end"`) && !strings.HasPrefix(line, `{"closed"`) {
			begun.WriteString(line)
		}
	}
	for file, want := range map[string]int{whole: 2, write(t, "m.part", begun.String()): 1} {
		l, err := readAllLatencies([]string{file}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for size := range l.measured.Sizes {
			if got, err := l.ofSize(size); err != nil || len(got) != want {
				t.Errorf("%s: %d repetitions of size %d, %v, want %d", filepath.Base(file), len(got), size, err, want)
			}
		}
	}
}

func TestCorrectWrongInput(t *testing.T) {
	star := write(t, "star.tgf", "1 a\n2 b\n3 c\n4 switch\n#\n1 4\n2 4\n3 4\n")
	three := write(t, "m.csv", "# unit: us\n,3,5\n3,,6\n5,6,\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{star, write(t, "4.csv", twoPairs), "--unit", "us"}, "the measurements are of 4 ranks, the network of 3"},
		{[]string{star, write(t, "n.csv", "# unit: us\n,a,b,d\na,,3,5\nb,3,,6\nd,5,6,\n")}, "is not in the measurements"},
		{[]string{star, write(t, "none.csv", ",-,-\n-,,-\n-,-,\n")}, "no measurement follows a path"},
		{[]string{star, three, "--forwarding", "through"}, "cut-through, store-and-forward or none"},
		{[]string{star, three, "--bytes", "x"}, "--bytes"},
		{[]string{star, three, "--unit", "h"}, "--unit"},
		{[]string{"-", "-"}, "standard input for one file"},
		{[]string{star, three, "--json", "-o", "-"}, "both are standard output"},
		{[]string{three, three}, "no network"},
		{[]string{star}, "want MEASUREMENTS"},
	} {
		status, out, stderr := topocast(append([]string{"network", "correct"}, c.args...)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("correct %v: status %d, %q, %q: want %d and %q", c.args, status, out, stderr, cli.StatusInput, c.want)
		}
	}
	if _, err := os.Stat("-"); err == nil {
		t.Error("a file named - was written")
	}
}
