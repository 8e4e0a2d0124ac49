package pingpong

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// TestAnswersAreChecked: an answer that cannot be is an error, not a hang.
func TestAnswersAreChecked(t *testing.T) {
	err := local.Run(2, nil, func(c mpi.Communicator) error {
		if c.Rank() == 0 {
			return c.Send([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 0}, 1, tagPilot)
		}
		if _, err := New(c, 0, 5).wanted(0); err == nil || !strings.Contains(err.Error(), "batches of 65535") {
			t.Errorf("wanted = %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
