package plogp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// A Distance is what tells how far apart two ranks are.
type Distance int

// The distances of Reinfjell 2023. The default is the one-way time of the model.
const (
	OneWay    Distance = iota // L + g(m)
	Latency                   // L
	Overheads                 // L + (os(m) + or(m))/2 + g(m), eq. 3.3, which counts the overheads twice
	RoundTrip                 // RTT(m) = 2L + g(m) + g(0)
	Profile                   // eq. 3.6: how unlike the parameters of the ranks are, see Profiles
)

// A parameter is a number of a pair, by the size of messages in bytes.
type parameter = func(p *model.PLogP, bytes int64) float64

// distanceNames are those of the command line.
func distanceNames() []string { return []string{"time", "latency", "time33", "rtt", "profile"} }

// parameters are those of which the distance is made. A single one is the distance. Several are the vectors V_i of eq. 3.5 to
// all other ranks, which are compared.
func (d Distance) parameters() []parameter {
	latency := func(p *model.PLogP, _ int64) float64 { return p.Latency }
	return [][]parameter{
		OneWay:    {(*model.PLogP).Time},
		Latency:   {latency},
		Overheads: {overheadTime},
		RoundTrip: {roundTrip},
		Profile:   {latency, (*model.PLogP).SendAt, (*model.PLogP).RecvAt, (*model.PLogP).GapAt},
	}[d]
}

func (d Distance) known() bool { return d >= 0 && int(d) < len(distanceNames()) }

func (d Distance) String() string {
	if !d.known() {
		return fmt.Sprintf("distance %d", int(d))
	}
	return distanceNames()[d]
}

// ParseDistance reads what String writes.
func ParseDistance(name string) (Distance, error) {
	if i := slices.Index(distanceNames(), name); i >= 0 {
		return Distance(i), nil
	}
	return 0, fmt.Errorf("plogp: distance %q: want %s", name, words.Or(distanceNames()))
}

// A View says what of the parameters makes distances. The zero value is the one-way time of
// messages of 0 bytes.
type View struct {
	Distance Distance
	Bytes    int64 // m, the size of the messages

	// Linear takes each parameter from one straight line over all sizes; by default it is linear
	// between neighbouring ones (Reinfjell 2023, section 3.2).
	Linear bool
}

// Distances is the matrix D(m) (Reinfjell 2023, eq. 3.4) in s, row by row from each rank; of Profile
// the one of eq. 3.6, a *Profiles without a unit. NaN where
// nothing was measured, and on the diagonal. It is an error if no pair has a distance, or one without
// overheads is asked for them.
func (r *Result) Distances(v View) (mat.Matrix, error) {
	switch {
	case v.Bytes < 0:
		return nil, fmt.Errorf("plogp: distances: %d bytes: want at least 0", v.Bytes)
	case !v.Distance.known():
		return nil, fmt.Errorf("plogp: distances: %v: want %s", v.Distance, words.Or(distanceNames()))
	case len(r.Pairs) == 0:
		return nil, fmt.Errorf("plogp: distances: %v: no pair has it: %w", v.Distance, topology.ErrDisconnected)
	}
	var found []mat.Matrix
	for _, of := range v.Distance.parameters() {
		m := r.matrix(v, of)
		if v.Distance != Profile && !slices.ContainsFunc(m.RawMatrix().Data, func(x float64) bool { return !math.IsNaN(x) }) {
			return nil, fmt.Errorf("plogp: distances: %v: no pair has it: %d pairs were measured", v.Distance, len(r.Pairs))
		}
		found = append(found, m)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	profiles, err := NewProfiles(found...)
	if err != nil {
		return nil, err
	}
	return profiles, nil
}

// matrix is a parameter of all pairs.
func (r *Result) matrix(v View, of parameter) *mat.Dense {
	cells := slices.Repeat([]float64{math.NaN()}, r.Ranks*r.Ranks)
	for i := range r.Pairs {
		p := &r.Pairs[i]
		parameters := &p.PLogP
		if v.Linear {
			parameters = linear(parameters)
		}
		cells[p.Src*r.Ranks+p.Dst] = of(parameters, v.Bytes)
	}
	return mat.NewDense(r.Ranks, r.Ranks, cells)
}

// overheadTime is eq. 3.3 in s. In strict PLogP the gap covers the overheads, so that they count twice: PLogP.Time is the
// one to use. NaN without overheads.
func overheadTime(p *model.PLogP, bytes int64) float64 {
	return p.Time(bytes) + (p.SendAt(bytes)+p.RecvAt(bytes))/2
}

// roundTrip is RTT(bytes) in s, of a message that is answered by one of 0 bytes (before eq. 3.1).
func roundTrip(p *model.PLogP, bytes int64) float64 { return 2*p.Latency + p.GapAt(bytes) + p.GapAt(0) }

// linear returns the parameters with the gap and the overheads on straight lines, p(m) = am + b. They are of least squares over
// the sizes (Reinfjell 2023, section 3.2, the first of the two methods). L does not depend on the size. Where a line is below 0
// at the first or the last size it is set to 0 there. Parameters of fewer than two sizes are returned as they are.
func linear(p *model.PLogP) *model.PLogP {
	if len(p.Sizes) < 2 {
		return p
	}
	first, last := p.Sizes[0], p.Sizes[len(p.Sizes)-1]
	x := make([]float64, len(p.Sizes))
	for i, m := range p.Sizes {
		x[i] = float64(m)
	}
	ends := func(y []float64) []float64 {
		if len(y) != len(x) {
			return nil // not measured
		}
		b, a := stat.LinearRegression(x, y, nil, false)
		return []float64{max(0, b+a*float64(first)), max(0, b+a*float64(last))}
	}
	return &model.PLogP{Latency: p.Latency, Sizes: []int64{first, last}, Gap: ends(p.Gap), Send: ends(p.Send), Recv: ends(p.Recv)}
}
