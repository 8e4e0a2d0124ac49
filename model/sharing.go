package model

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/contention"
)

// The words for sharings.
const (
	sharingFair       = "fair"
	sharingAsymmetric = "asymmetric"
	sharingFitted     = "fitted"
)

// Sharings are the words that ParseSharing reads.
func Sharings() []string { return []string{sharingFair, sharingAsymmetric, sharingFitted} }

// ParseSharing reads the word for a sharing: fair, asymmetric (with the given
// weight of acknowledgements, see contention.Sharing), or fitted, which gives nil: what
// the network was fitted to.
func ParseSharing(word string, ackWeight float64) (*contention.Sharing, error) {
	if !(ackWeight >= 0) || math.IsInf(ackWeight, 0) {
		return nil, fmt.Errorf("model: sharing: weight of acknowledgements %g: want at least 0 and finite", ackWeight)
	}
	switch word {
	case sharingFair:
		return &contention.Sharing{}, nil
	case sharingAsymmetric:
		return &contention.Sharing{Asymmetric: true, AckWeight: ackWeight}, nil
	case sharingFitted:
		return nil, nil
	}
	return nil, fmt.Errorf("model: sharing %q: want %s", word, words.Or(Sharings()))
}
