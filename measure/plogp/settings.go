package plogp

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
)

// Settings of a measurement. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type Settings struct {
	harness.Control

	// Longest is M, the size of the longest messages in bytes: sizes are 0, and
	// from 1 on doubled up to M. Default 1 MiB, at most 1 GiB.
	Longest int

	// Samples is the number of round trips and of overheads of one size, of
	// which the medians count. Default 20.
	Samples int

	// Fast measures the gap of 0 bytes only by saturation, that is by rows of messages ("fast measurement", Kielmann,
	// Bal, Verstoep 2000). All others follow from round trips. By default those beyond 64 KiB do.
	Fast bool

	// LongestRow is the most messages of a row that saturates a link: rows that do not settle, as where
	// single times scatter, cost most of the time. Default, and at most, 37,500 (Reinfjell 2023, section 3.1.2).
	LongestRow int

	// ExtraSizes is how many more sizes of a pair are measured, at most. They are around gaps of either direction that miss
	// the straight line through their neighbours by more than a tenth. Default 16; negative: none.
	ExtraSizes int

	// Groups are known groups of ranks, which are measured at once; then what they
	// hold is joined, level by level, as LGate does. In each group one pair is measured at a time: long
	// messages would take bandwidth from each other. Default: none.
	Groups *topology.Hierarchy

	// Share is that of the ranks of each group, at random, which are measured at all:
	// the "fast" mode of Reinfjell 2023, section 3.2. Default, and 1: all.
	Share float64

	// Seed is that of the order and of the choice.
	Seed uint64

	// Record takes on rank 0 what is measured while it is: one section, which
	// Measure begins and ends. The file has its header already.
	Record *record.Writer
}

const (
	defaultLongest = 1 << 20
	longest        = 1 << 30
	defaultSamples = 20
	saturatedUpTo  = 1 << 16 // B, up to which, and at the next size, gaps are measured by saturation: Reinfjell 2023, section 3.1.2
	patience       = 1.3     // round trips after which a receive overhead is timed: k of Reinfjell 2023, section 3.1.2
	tolerance      = 0.1     // by which a gap may miss the line through its neighbours: noise is a few percent at most
	defaultExtra   = 16      // as many again, nearly, as sizes up to 1 MiB
)

// settings are those of a run, as they travel.
type settings struct {
	Sizes         []int `json:"sizes_bytes"`
	Samples       int   `json:"samples"`
	SaturatedUpTo int   `json:"saturated_up_to_bytes"` // one of the sizes, or beyond all
	LongestRow    int   `json:"longest_row"`
	ExtraSizes    int   `json:"extra_sizes"`

	// CallCost is what Go adds to a call of the library, as rank 0 has found: see mpi.Timed.
	CallCost float64 `json:"call_cost_s,omitempty"`
}

func (s *Settings) plan() (settings, error) {
	err := limits.Fill("plogp: Settings",
		limits.Of("Longest", &s.Longest, defaultLongest, 1, longest),
		limits.Of("LongestRow", &s.LongestRow, mostStream, 1, mostStream),
		limits.Of("Samples", &s.Samples, defaultSamples, 1, math.MaxInt32),
		limits.Of("ExtraSizes", &s.ExtraSizes, defaultExtra, math.MinInt, math.MaxInt))
	if err == nil && !(s.Share >= 0 && s.Share <= 1) {
		err = fmt.Errorf("plogp: Settings.Share: %g: want in [0, 1]", s.Share)
	}
	p := settings{Sizes: []int{0}, Samples: s.Samples, LongestRow: s.LongestRow, ExtraSizes: max(0, s.ExtraSizes)}
	for m := 1; m < s.Longest; m *= 2 {
		p.Sizes = append(p.Sizes, m)
	}
	p.Sizes = append(p.Sizes, s.Longest)
	if !s.Fast {
		p.SaturatedUpTo = saturatedUpTo
		if beyond := slices.IndexFunc(p.Sizes, func(m int) bool { return m > saturatedUpTo }); beyond >= 0 {
			p.SaturatedUpTo = p.Sizes[beyond]
		}
	}
	return p, err
}

func (s *settings) longest() int { return slices.Max(s.Sizes) }
