package schedule_test

import (
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
)

// Lowered steps move the bytes of the schedule in its order between any two ranks, no set holds more transfers than it may,
// all are waited for, and nothing is sent before its receive was waited for.
func TestLoweredStepsKeepTheSchedule(t *testing.T) {
	const ranks = 40
	for i, a := range casttest.Algorithms() {
		p := schedule.Problem{Ranks: ranks, Root: i % ranks, Bytes: 5000, Segment: 700, Tree: casttest.RegularTree(t, ranks, 4, 5)}
		for rank, ops := range schedule.AllOps(nil, a, p) {
			for _, mode := range []schedule.Mode{schedule.OneByOne, schedule.InOrder, schedule.Pipelined} {
				checkLowered(t, a.Name(), rank, ops, mode)
			}
		}
	}
}

func checkLowered(t *testing.T, name string, rank int, ops []schedule.Op, mode schedule.Mode) {
	t.Helper()
	type transfer struct{ peer, offset, length int }
	var wantSent, wantReceived, sent, received []transfer
	for _, op := range ops {
		x := transfer{op.Peer, op.Offset, op.Length}
		if op.Kind == schedule.Send {
			wantSent = append(wantSent, x)
		} else {
			wantReceived = append(wantReceived, x)
		}
	}
	var underWay [mpi.StepSets][]mpi.Step
	for i, s := range schedule.Lower(nil, ops, rank, mode) {
		x := transfer{s.Peer, s.Offset, s.Length}
		switch s.Kind {
		case mpi.StepWait:
			underWay[s.Set] = nil
			continue
		case mpi.StepSend, mpi.StepStartSend:
			sent = append(sent, x)
			for _, set := range underWay {
				for _, r := range set {
					if r.Kind == mpi.StepStartRecv && r.Offset < s.Offset+s.Length && s.Offset < r.Offset+r.Length {
						t.Errorf("%s, rank %d, mode %d: step %d sends what step %v has only begun to receive", name, rank, mode, i, r)
					}
				}
			}
		default:
			received = append(received, x)
		}
		if s.Kind >= mpi.StepStartSend {
			if underWay[s.Set] = append(underWay[s.Set], s); len(underWay[s.Set]) > mpi.StepSetSize {
				t.Errorf("%s, rank %d, mode %d: %d transfers in a set", name, rank, mode, len(underWay[s.Set]))
			}
		}
	}
	for set, left := range underWay {
		if len(left) > 0 {
			t.Errorf("%s, rank %d, mode %d: nothing waits for set %d", name, rank, mode, set)
		}
	}
	for _, c := range []struct {
		what      string
		got, want []transfer
	}{{"sent", sent, wantSent}, {"received", received, wantReceived}} {
		if len(c.got) != len(c.want) {
			t.Errorf("%s, rank %d, mode %d: %d messages %s, want %d", name, rank, mode, len(c.got), c.what, len(c.want))
			continue
		}
		for i := range c.got {
			if c.got[i] != c.want[i] {
				t.Errorf("%s, rank %d, mode %d: message %d %s is %v, want %v", name, rank, mode, i, c.what, c.got[i], c.want[i])
				break
			}
		}
	}
}
