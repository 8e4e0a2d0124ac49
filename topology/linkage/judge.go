package linkage

import (
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/support"
)

// A judge gives groups a support in [0, 1] from the measured readings alone. In
// contrast to the proposal it does not assume that noise is alike everywhere: on
// real machines the spread inside one class is anything from 1 to 40 %.
type judge struct {
	t       *nested.Tree
	r       *readings.Symmetric
	raw     *readings.Symmetric // r before unequal links were corrected
	gapped  bool                // pairs are missing
	quantum float64             // tick of the clock, in s; 0: none is seen
	white   float64             // noise of the machine, relative; NaN if not known
	support []float64           // of group v at v-n
	border  []border            // of group v at v-n

	// Scratch of gather.
	within, outside, nearest []float32
	block                    []float32
	column                   []float32
	out                      []int32
}

// reported is the least support of a group that is shown, though weak.
const reported = 0.5

// weakCeiling is the most support of a group for which arguments speak that are not direct
// evidence: below firm by construction.
const weakCeiling = support.WeakCeiling
