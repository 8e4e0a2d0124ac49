package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
)

// A ring of six simulated hosts, measured with three message lengths: what greedy finds for each is in the
// file and in --json, and the other commands read both.
func TestReconstructMergesMessageLengths(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, stderr := topocast("measure", "--sim", "ring:6 latency=10us rate=10Gbps", "--sizes", "8,4Ki,1Mi", "-o", "readings.json"); status != 0 {
		t.Fatal(stderr)
	}
	args := []string{"reconstruct", "--method", "greedy", "--shared-eps", "0.02", "--duplex-eps", "0.05", "-o", "network.json", "readings.json"}
	status, text, stderr := topocast(args...)
	if status != 0 || !strings.Contains(text, "merged of messages of 8 B, 4 KiB, 1 MiB") || !strings.Contains(text, "ddd") {
		t.Fatalf("status %d: %s%s", status, text, stderr)
	}
	status, out, stderr := topocast("reconstruct", "--method", "greedy", "--json", "readings.json")
	if status != 0 {
		t.Fatal(stderr)
	}
	var got struct {
		BySize []struct {
			Bytes int
			Arcs  [][2]int
		} `json:"by_size"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.BySize) != 3 || got.BySize[1].Bytes != 4096 {
		t.Fatalf("%v, by_size %+v, want three lengths", err, got.BySize)
	}
	n, err := model.Load("network.json")
	if err != nil {
		t.Fatal(err)
	}
	local := n.Reconstruction().Local
	if len(local) != 3 {
		t.Fatalf("the network has %d topologies, want 3", len(local))
	}
	for _, a := range n.Graph().Arcs() { // the share is counted here again
		count := 0.0
		for _, l := range local {
			for _, b := range l.Arcs {
				if b.From == a.From && b.To == a.To {
					count++
				}
			}
		}
		if diff := a.Probability - count/3; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("arc %d>%d has probability %g, and %g of 3 lengths have it", a.From, a.To, a.Probability, count)
		}
	}
	for from := range 6 { // the ring's own links are there for each length
		if p := probability(n.Graph(), from, (from+1)%6); p != 1 {
			t.Errorf("link %d-%d has probability %g", from, (from+1)%6, p)
		}
	}
	merged := write(t, "merged.json", out)
	transfers := write(t, "transfers.json", `{"transfers":[{"src":0,"dst":3,"bytes":1000}]}`)
	if status, _, stderr := topocast("predict", "network.json", transfers); status != 0 {
		t.Errorf("predict: status %d: %s", status, stderr)
	}
	for _, file := range []string{"network.json", merged} {
		if status, _, stderr := topocast("compare", file, "network.json"); status == cli.StatusFailed || status == cli.StatusInput {
			t.Errorf("compare %s: status %d: %s", file, status, stderr)
		}
	}
	if status, _, stderr := topocast("report", "network.json", "-o", "page.html"); status != 0 {
		t.Fatal(stderr)
	}
	page, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range local { // each has a place on the page's slider
		if !strings.Contains(string(page), fmt.Sprintf(`{"bytes":%d,"arcs":[`, l.Bytes)) {
			t.Errorf("the page has no topology of %d B", l.Bytes)
		}
	}
	if status, _, stderr := topocast("reconstruct", "--duplex-eps", "0.1", "readings.json"); status != cli.StatusInput || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a tolerance of another method: status %d: %s", status, stderr)
	}
}
