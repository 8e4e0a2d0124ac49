package main

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
)

// The hosts of spanner's test by hand, a matrix per message length: long messages take the arc 0->2 that short ones lack, and its length
// is the mean over both, 8.5 of 5.5. Lengths come in any order, and further files of a length are its repetitions.
func TestReconstructTakesMatricesOfLengths(t *testing.T) {
	t.Chdir(t.TempDir())
	short, long := write(t, "short.csv", "0,1,2\n1,0,1\n2,1,0\n"), write(t, "long.csv", "0,10,15\n15,0,10\n20,10,0\n")
	greedy := []string{"reconstruct", "--method", "greedy", "--shared-eps", "0.02", "--duplex-eps", "0.1", "--unit", "us"}
	var texts []string
	for _, files := range [][]string{{"1KiB=" + long, "8=" + short}, {"8=" + short, "1024=" + long, "--reps", "8=" + short}} {
		status, out, stderr := topocast(append(append(greedy, "-o", "network.json"), files...)...)
		words := strings.Join(strings.Fields(out), " ")
		for _, want := range []string{
			"merged of messages of 8 B, 1 KiB", "0 - 1 1.15 1.00 0.50 df", "0 - 2 1.55 0.50 0.00 -f", "1 - 2 1 1.00 1.00 dd",
		} {
			if status != 0 || !strings.Contains(words, want) {
				t.Errorf("%q: status %d: %s%s, want %q", files, status, out, stderr, want)
			}
		}
		texts = append(texts, out)
	}
	if texts[0] != texts[1] {
		t.Errorf("with a repetition that is the same:\n%s\nwant\n%s", texts[1], texts[0])
	}
	// The latencies of arcs that a length lacks outlive the file: pictures are drawn by the mean.
	n, err := model.Load("network.json")
	if err != nil {
		t.Fatal(err)
	}
	if local := n.Reconstruction().Local; len(local) != 2 || len(local[0].Absent) != 1 || math.Abs(local[0].Absent[0].Latency-2e-6) > 1e-12 {
		t.Errorf("topologies %+v, want that of 8 B with an absent arc of 2 us", local)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"reconstruct", "--unit", "us", "8=" + short, "1KiB=" + long}, "want --method greedy"},
		{append(greedy, "8="+short, long), "want LENGTH=FILE of all files or of none"},
		{append(greedy, short, long), "further repetitions go to --reps"},
		{append(greedy, "8="+short, "1KiB="+write(t, "small.csv", "0,1\n1,0\n")), "want the same hosts"},
		{append(greedy, "8=no-such-file"), "no-such-file"},
	} {
		if status, _, stderr := topocast(c.args...); status != cli.StatusInput || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}
