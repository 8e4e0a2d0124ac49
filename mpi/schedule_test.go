//go:build linux

package mpi_test

import (
	"bytes"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// Ranks pass a row of bytes on, one at a time: schedules of more calls than are made at once.
func TestPerformLongSchedule(t *testing.T) {
	c := world(t)
	const n = 1500
	want := make([]byte, n)
	for i := range want {
		want[i] = byte(i % 251)
	}
	for _, started := range []bool{false, true} {
		buf := make([]byte, n)
		if c.Rank() == 0 {
			copy(buf, want)
		}
		var steps []mpi.Step
		for i := range n {
			if c.Rank() > 0 {
				steps = append(steps, mpi.Step{Kind: mpi.StepRecv, Peer: c.Rank() - 1, Offset: i, Length: 1})
			}
			if c.Rank() == c.Size()-1 {
				continue
			}
			send := mpi.Step{Peer: c.Rank() + 1, Offset: i, Length: 1}
			if started {
				send.Kind, send.Set = mpi.StepStartSend, i%2
				steps = append(steps, mpi.Step{Kind: mpi.StepWait, Set: i % 2})
			}
			steps = append(steps, send)
		}
		if started {
			steps = append(steps, mpi.Step{Kind: mpi.StepWait}, mpi.Step{Kind: mpi.StepWait, Set: 1})
		}
		if i, err := c.Perform(buf, steps, 4); err != nil {
			t.Fatalf("started=%v: step %d: %v", started, i, err)
		}
		if !bytes.Equal(buf, want) {
			t.Fatalf("started=%v: the bytes that came are others", started)
		}
	}
}
