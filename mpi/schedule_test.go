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
	for _, ahead := range []bool{false, true} {
		buf := make([]byte, n)
		if c.Rank() == 0 {
			copy(buf, want)
		}
		var steps []mpi.Step
		for i := range n {
			if c.Rank() > 0 {
				steps = append(steps, mpi.Step{Kind: mpi.StepRecv, Peer: c.Rank() - 1, Offset: i, Length: 1})
			}
			if c.Rank() < c.Size()-1 {
				steps = append(steps, mpi.Step{Kind: mpi.StepSend, Peer: c.Rank() + 1, Offset: i, Length: 1})
			}
		}
		if i, err := c.Perform(buf, steps, 4, ahead); err != nil {
			t.Fatalf("ahead=%v: step %d: %v", ahead, i, err)
		}
		if !bytes.Equal(buf, want) {
			t.Fatalf("ahead=%v: the bytes that came are others", ahead)
		}
	}
}
