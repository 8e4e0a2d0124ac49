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

// fittedTolerance is far below what a fit is off by, which is some per cent.
const fittedTolerance = 0.001

// sharing is how channels are shared as the network was fitted: fair, or
// coupled by the class of the link, with rates kept to a thousandth.
func (n *Network) sharing() *contention.Sharing {
	if len(n.links.Classes) == 0 {
		return &contention.Sharing{}
	}
	s := &contention.Sharing{Asymmetric: true, Coupling: make([]float64, n.graph.NumArcs()), Tolerance: fittedTolerance}
	for arc, class := range n.links.OfArc {
		s.Coupling[arc] = n.links.Classes[class].Coupling
	}
	return s
}
