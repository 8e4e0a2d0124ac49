package servet

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/topocast/topocast/mpi"
)

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
		x := newExchanger(struct{ mpi.Communicator }{}, nil, &others, []part{{to: 0, from: 0}})
		for _, buffer := range [][]byte{x.out, x.in} {
			written := slices.ContainsFunc(buffer, func(b byte) bool { return b != 0 })
			if len(buffer) != 1<<14 || written == untouched {
				t.Errorf("untouched %t: a buffer of %d bytes was written to: %t", untouched, len(buffer), written)
			}
		}
	}
}
