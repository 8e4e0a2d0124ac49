package compare

// A Verdict is what a comparison says of one link.
type Verdict string

// The verdicts. The first four are of regular machines, whose hosts are wired to
// each other; the last three, and LinkFound where the reference gives no time,
// of hierarchical ones, whose hosts are on switches.
const (
	LinkFound   Verdict = "found"   // in both directions
	LinkSimplex Verdict = "simplex" // in one direction only
	LinkMissing Verdict = "missing" // specified, but not found
	LinkExtra   Verdict = "extra"   // found, but not specified
	LinkUnused  Verdict = "unused"  // on no shortest path between hosts that were found joined, by an arc or over switches alone; white in the paper
	LinkFast    Verdict = "fast"    // as fast as specified, or faster; red
	LinkSlow    Verdict = "slow"    // slower than specified; blue
)

// Further verdicts, of Links.
const (
	LinkSame    Verdict = "same"         // within the tolerance
	LinkUnknown Verdict = "not measured" // on one side, or both
)

// A LinkCheck is the verdict on the link between two vertices of the reference.
type LinkCheck struct {
	U, V        int // U < V
	Verdict     Verdict
	Probability float64 // of regular machines: mean over both directions that the link exists
	Measured    float64 // of hierarchical ones: mean time in s that messages spent on the link; NaN if unused
	Ideal       float64 // s, as specified; NaN if the reference does not say
	Paths       int     // shortest paths that lead over the link, both directions
}

// fewLinks of one kind have a middle: of two either may be it.
const fewLinks = 3
