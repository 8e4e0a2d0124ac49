package servet

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// second is rank 1, which sends nothing.
type second struct{ mpi.Communicator }

func (second) Rank() int { return 1 }

// TestUntouchedReachesAllRanks: what rank 0 is asked travels with the plan, and the buffers of another rank are as its
// system gave them, or have been written to.
func TestUntouchedReachesAllRanks(t *testing.T) {
	for _, untouched := range []bool{true, false} {
		var own, others plan
		newResult("distance", &own, placesOn("ab"), &Settings{Bytes: 1 << 14, Untouched: untouched})
		data, err := json.Marshal(&own)
		if err == nil {
			err = json.Unmarshal(data, &others)
		}
		if err != nil {
			t.Fatal(err)
		}
		others.Steps = []step{{At: 1, PerHost: 1, Hosts: 2, Apart: 1}}
		x := newExchanger(&harness.Conductor{Comm: second{}}, &others)
		for _, buffer := range [][]byte{x.out, x.in} {
			written := slices.ContainsFunc(buffer, func(b byte) bool { return b != 0 })
			if len(buffer) != 1<<14 || written == untouched {
				t.Errorf("untouched %t: a buffer of %d bytes was written to: %t", untouched, len(buffer), written)
			}
		}
	}
}
