package smpi_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/smpi"
	"github.com/topocast/topocast/internal/tooltest"
)

// star is a platform of eight hosts on a switch, routes of 20 us, 100 MB/s.
const star = `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="h" suffix="" radical="0-7" speed="10Gf" bw="100MBps" lat="10us" sharing_policy="SPLITDUPLEX"/>
</platform>
`

// SimGrid takes the traces and needs the time that one gets by hand from its own
// factors: 20 us of latency and 100 MB/s become 20 us x 11.6436 and 100 MB/s x
// 0.940694 for messages of 1 MB, of which each side has 2 us.
func TestToolsSMPIReplaysTraces(t *testing.T) {
	tooltest.Need(t, "smpirun")
	dir := t.TempDir()
	platform, hosts, trace := filepath.Join(dir, "star.xml"), filepath.Join(dir, "hosts"), filepath.Join(dir, "trace")
	for file, text := range map[string]string{platform: star, hosts: "h0\nh1\nh2\nh3\nh4\nh5\nh6\nh7\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const bytes = 1_000_000
	one := 2e-6 + 20e-6*11.6436 + bytes/(100e6*0.940694) + 2e-6
	for _, c := range []struct {
		a     schedule.Algorithm
		ahead bool
		hops  float64 // messages that follow each other
	}{
		{schedule.Chain{}, false, 7},
		{schedule.Chain{}, true, 7},
		{schedule.Binomial{}, false, 3},
		{schedule.Flat{}, false, 7},
	} {
		file, err := os.Create(trace)
		if err != nil {
			t.Fatal(err)
		}
		p := schedule.Problem{Ranks: 8, Bytes: bytes}
		if err := errors.Join(smpi.WriteTraces(file, c.a, p, c.ahead), file.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := smpi.Replay{Ranks: p.Ranks, Platform: platform, Hosts: hosts}.Seconds(t.Context(), trace)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.hops * one; math.Abs(got/want-1) > 0.01 { // software of both sides may overlap
			t.Errorf("%s, ahead %v: %g s, want %g", c.a.Name(), c.ahead, got, want)
		}
	}
}
