package linkage

import (
	"github.com/topocast/topocast/internal/confidence"
	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
)

// A judge gives groups a confidence in [0, 1] from the measurements alone. In
// contrast to the proposal it does not assume that noise is alike everywhere: on
// real machines the spread inside one class is anything from 1 to 40 %.
type judge struct {
	t             *nested.Tree
	r             *measured.Symmetric
	raw           *measured.Symmetric // r before unequal links were corrected
	gapped        bool                // pairs are missing
	quantum       float64             // tick of the clock, in s; 0: none is seen
	residualNoise float64             // noise of the machine, relative; NaN if not known
	confidence    []float64           // of group v at v-n
	margin        []margin            // of group v at v-n

	// Scratch of gather.
	within, outside, nearest []float32
	block                    []float32
	column                   []float32
	out                      []int32
}

// reported is the least confidence of a group that is shown, though uncertain.
const reported = 0.5

// uncertainCeiling is the most confidence of a group for which arguments speak that are not direct
// evidence: below confident by construction.
const uncertainCeiling = confidence.UncertainCeiling
