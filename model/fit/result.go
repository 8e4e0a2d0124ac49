package fit

import (
	"github.com/topocast/topocast/model"
)

// Result is what Network found, and how well.
type Result struct {
	Network *model.Network // with the fitted bandwidths in its graph
	// Law is how transfers share links. Duplex and Connection are 0 unless transfers both ways are explained much better by
	// them than without.
	model.Law
	Links    []Link
	Residual float64 // median of |measured - predicted| / predicted of long transfers
	Warnings []string
}

// Link is the bandwidth of one link, the same in both directions unless one was given
// (Settings.Arcs).
type Link struct {
	A, B          int     // vertices, A < B
	OneWay        bool    // only the direction from A to B, of which either may be lower
	Given         bool    // by Settings.Arcs, and not fitted
	Bandwidth     float64 // B/s; NaN if no observation crosses the link
	RelativeError float64 // relative standard error; +Inf if only a lower bound is known
	Determined    bool    // whether the error is at most 5 %

	isIdle bool // it holds no transfer up, not even together with another link: Bandwidth is what it carried
}
