//go:build linux

package labtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/model/results"
)

// The lab of TestCheckUnderLoad as it should be. All hosts at once move 40 MB/s through the machine's CPUs.
const loadSpec = "tree:4x4 latency=100us,50us rate=20Mbps"

// TestCheckUnderLoad throttles one direction of a trunk to half, which topocast check --load has to name and nothing
// else, under both libraries. Of a lab as it should be it names nothing.
func TestCheckUnderLoad(t *testing.T) {
	settings := labSettings(t)
	for _, lab := range []struct {
		name, links, want string
		libraries         []string
	}{
		{"throttled", `,"links":[{"from":"s2","to":"s0","rate_Bps":1.25e6}]`, "link s0 - s2", []string{netlab.OpenMPI, netlab.MPICH}},
		{"whole", "", "", []string{netlab.MPICH}},
	} {
		t.Run(lab.name, func(t *testing.T) {
			l := labUp(t, settings, lab.name, fmt.Sprintf(`"spec":%q%s`, loadSpec, lab.links))
			for _, library := range lab.libraries {
				t.Run(library, func(t *testing.T) {
					judge(t, 2, func() ([]string, netlab.Loop) { return misnamed(t, l, library, lab.want) })
				})
			}
		})
	}
}

// misnamed checks a lab under load and tells what is named instead of the only thing that should be; "": nothing should.
func misnamed(t *testing.T, l *netlab.Lab, library, want string) (faults []string, fabric netlab.Loop) {
	t.Helper()
	place, err := scenario.Placement("block", l.Cluster.Graph.Hosts(), l.Cluster.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	var out, problems bytes.Buffer
	err = l.Run(ctx, &netlab.Job{MPI: library, Place: place, Program: []string{build(t, topocastFolder), "check", "--load", "--json", "--size", "64KiB", loadSpec}}, &out, &problems)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // the status says what was found
		t.Fatalf("%v\n%s", err, problems.String())
	}
	c, err := l.Counters()
	if err != nil {
		t.Fatal(err)
	}
	var found results.Check
	if err := json.NewDecoder(&out).Decode(&found); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), problems.String())
	}
	got := ""
	for _, s := range found.Suspects {
		if s.Named {
			got += s.Name
			for _, f := range s.Findings {
				t.Logf("%s: %s > %s %.2f times as long, p %.2g", s.Name, f.From, f.To, *f.Factor, *f.P)
			}
		}
	}
	t.Logf("noise %g, %v", found.Noise, found.Warnings)
	if got != want {
		faults = append(faults, fmt.Sprintf("named %q, want %q", got, want))
	}
	return faults, c.Loop
}
