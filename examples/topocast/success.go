package main

import (
	"fmt"
	"io"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
)

// wantedSuccess is the share of right runs that is asked for where it says what precision that takes.
const wantedSuccess = 0.9

// printSuccess prints how probable it is that all measurements are within the tolerance (Bufe 2014, section 3.4). One outside
// leads the method clique astray. Of other methods it prints nothing.
func (l *latencies) printSuccess(w io.Writer, r topology.Reconstructor) error {
	method, ok := r.(*clique.Switches)
	n, _ := l.matrices[0].Dims()
	if !ok || n < 2 {
		return nil
	}
	p, of, err := method.Precision(l.matrices...)
	if err != nil {
		return err
	}
	needed := fmt.Sprintf("%.4g %%", 100*clique.NeededPrecision(wantedSuccess, n))
	pairs := words.Count(n*(n-1)/2, "pair")
	if math.IsNaN(p) {
		_, err = fmt.Fprintf(w, "\nOne repetition does not tell how many measurements are within the tolerance. For all of\n%s to be, in %s of runs, %s of them have to be (Bufe 2014, eq. 3.5).\n",
			pairs, quantity.Percent(wantedSuccess), needed)
		return err
	}
	_, err = fmt.Fprintf(w, "\nOf %s %.4g %% are within the tolerance of their pair's median: in one repetition\nall of %s are with a probability of %s (Bufe 2014, eq. 3.5);\nfor %s %s of measurements have to be.\n",
		words.Count(of, "measurement"), 100*p, pairs, quantity.Percent(clique.SuccessProbability(p, n)), quantity.Percent(wantedSuccess), needed)
	return err
}
