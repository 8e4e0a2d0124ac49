//go:build linux

package labtest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/topocast/topocast/internal/netlab"
)

// TestLateReceiver: what has come is there: a rank that asks late for messages sleeps for none of them. A library
// takes some 10 us for each; one look that lasts until a message comes takes 1 ms.
func TestLateReceiver(t *testing.T) {
	s := labSettings(t)
	l := labUp(t, s, "late", `"spec":"star:2 latency=100us rate=100Mbps"`)
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		t.Run(library, func(t *testing.T) {
			judge(t, 3, func() (faults []string, fabric netlab.Loop) {
				file := filepath.Join(t.TempDir(), "report.json")
				var got late
				job := &netlab.Job{MPI: library, Place: []int{0, 1}, Program: program(t, "-late", "-report", file)}
				fabric = runJob(t, l, job, jobLimit, &got)
				each := got.Seconds / float64(got.Messages)
				if each > 0.25e-3 {
					faults = append(faults, fmt.Sprintf("%d messages that were there took %g s each", got.Messages, each))
				}
				return faults, fabric
			})
		})
	}
}
