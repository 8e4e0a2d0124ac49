package plogp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
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

// distanceNames are those of the command line.
var distanceNames = [...]string{"time", "latency", "time33", "rtt", "profile"}

func (d Distance) String() string {
	if d < 0 || int(d) >= len(distanceNames) {
		return fmt.Sprintf("distance %d", int(d))
	}
	return distanceNames[d]
}

// ParseDistance reads what String writes.
func ParseDistance(name string) (Distance, error) {
	if i := slices.Index(distanceNames[:], name); i >= 0 {
		return Distance(i), nil
	}
	return 0, fmt.Errorf("plogp: distance %q: want %s", name, words.Or(distanceNames[:]))
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
	if v.Bytes < 0 {
		return nil, fmt.Errorf("plogp: distances: %d bytes: want at least 0", v.Bytes)
	}
	of := func(p *model.PLogP) float64 { return p.Time(v.Bytes) }
	switch v.Distance {
	case OneWay:
	case Latency:
		of = func(p *model.PLogP) float64 { return p.Latency }
	case Overheads:
		of = func(p *model.PLogP) float64 { return p.OverheadTime(v.Bytes) }
	case RoundTrip:
		of = func(p *model.PLogP) float64 { return p.RoundTrip(v.Bytes) }
	case Profile:
		return r.profiles(v)
	default:
		return nil, fmt.Errorf("plogp: distances: %v: want %s", v.Distance, words.Or(distanceNames[:]))
	}
	m := r.matrix(v, of)
	if !slices.ContainsFunc(m.RawMatrix().Data, func(x float64) bool { return !math.IsNaN(x) }) {
		return nil, fmt.Errorf("plogp: distances: %v: no pair has it: %d pairs were measured", v.Distance, len(r.Pairs))
	}
	return m, nil
}

// profiles are the distances between the vectors V_i of eq. 3.5: L, os, or and g to all other ranks.
func (r *Result) profiles(v View) (*Profiles, error) {
	var parameters []mat.Matrix
	for _, of := range []func(*model.PLogP) float64{
		func(p *model.PLogP) float64 { return p.Latency },
		func(p *model.PLogP) float64 { return p.SendAt(v.Bytes) },
		func(p *model.PLogP) float64 { return p.RecvAt(v.Bytes) },
		func(p *model.PLogP) float64 { return p.GapAt(v.Bytes) },
	} {
		parameters = append(parameters, r.matrix(v, of))
	}
	return NewProfiles(parameters...)
}

// matrix is a function of the parameters of all pairs.
func (r *Result) matrix(v View, of func(*model.PLogP) float64) *mat.Dense {
	cells := make([]float64, r.Ranks*r.Ranks)
	for i := range cells {
		cells[i] = math.NaN()
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		parameters := &p.PLogP
		if v.Linear {
			line, _ := p.Linear()
			parameters = &line
		}
		cells[p.Src*r.Ranks+p.Dst] = of(parameters)
	}
	return mat.NewDense(r.Ranks, r.Ranks, cells)
}
