package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestCommandsReadWhatDiscoverWrites: predict, place and compare work on
// discover's file of a machine of which some links were measured by no long
// message, as the budget ended before, and predict says so.
func TestCommandsReadWhatDiscoverWrites(t *testing.T) {
	network := filepath.Join(t.TempDir(), "network.json")
	status, out, stderr := topocast("discover", "--sim", "tree:[5,6,7]x4 latency=20us,8us,2us rate=5Gbps", "--repetitions", "1",
		"--budget", "250ms", "--patterns", "0", "--output", network)
	if status != 0 {
		t.Fatalf("discover: status %d: %s", status, stderr)
	}
	if got := strings.Count(out, "links were not measured"); got != 1 {
		t.Errorf("discover says %d times that bandwidths were not measured, want once:\n%s", got, out)
	}
	if !strings.Contains(out, "spread\n") {
		t.Errorf("discover shows no spread:\n%s", out)
	}

	const ranks = 72
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for i := range 1000 {
		src := r.IntN(ranks)
		fmt.Fprintf(&b, `{"src":%d,"dst":%d,"bytes":%d,"start_s":0}`, src, (src+1+r.IntN(ranks-1))%ranks, 1+r.IntN(1<<20))
		if i < 999 {
			b.WriteByte(',')
		}
	}
	transfers := write(t, "transfers.json", `{"transfers":[`+b.String()+`]}`)
	status, out, stderr = topocast("predict", "--json", network, transfers)
	var p struct {
		Completion []float64 `json:"completion_s"`
		Estimated  []bool    `json:"estimated"`
	}
	if err := json.Unmarshal([]byte(out), &p); status != 0 || err != nil || len(p.Completion) != 1000 || len(p.Estimated) != 1000 {
		t.Fatalf("predict: status %d, %v: %s%s", status, err, out, stderr)
	}
	estimated := 0
	for _, is := range p.Estimated {
		if is {
			estimated++
		}
	}
	status, out, stderr = topocast("predict", network, transfers)
	want := fmt.Sprintf("%d of 1000 transfers cross links whose bandwidths were not measured", estimated)
	if status != 0 || estimated == 0 || !strings.Contains(out, want) {
		t.Errorf("predict: status %d: %s: want %q at the end of\n%s", status, stderr, want, out)
	}
	if status, _, stderr = topocast("place", "--ranks", "7", network); status != 0 {
		t.Errorf("place: status %d: %s", status, stderr)
	}
	// There was no time to tell the links of hosts, so nobody can say that they are the same.
	if status, out, stderr = topocast("compare", network, network); status != cli.StatusUnknown || !strings.Contains(out, "cannot tell: none of ") {
		t.Errorf("compare with itself: status %d: %s\n%s", status, stderr, out)
	}
}
