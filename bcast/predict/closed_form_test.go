package predict

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
)

// The closed forms of the literature on equal pairs, whose overhead costs
// nothing: a message of s bytes occupies a link for g(s) = G s and is there L later.
// Reference: Pjesivac-Grbovic et al. 2007, table 1, and Thakur et al. 2005, section 4, in the
// terms of LogGP with full duplex; h = log2 P.
//
// Where they count rounds that all ranks begin at once, ranks that begin a round
// as soon as they can may be faster: there the form bounds the prediction from
// above, and what no schedule can beat from below.
func TestClosedForms(t *testing.T) {
	const G = 1e-9
	for _, L := range []float64{0.4e-6, 5e-6} {
		g := func(bytes float64) float64 { return G * bytes }
		for _, c := range []struct {
			name         string
			a            schedule.Algorithm
			ranks        int
			bytes, piece int
			want         float64 // exactly, or at most
			least        float64 // 0: exactly want
		}{
			// (P-1) k g(s) + L, here with k = 1 and 4.
			{"flat", schedule.Flat{}, 20, 1000, 0, 19*g(1000) + L, 0},
			{"flat, 4 pieces", schedule.Flat{}, 20, 4000, 1000, 19*4*g(1000) + L, 0},
			{"pipeline: (P-1)(g+L) + (k-1) g", schedule.Chain{}, 20, 12000, 1000, 19*(g(1000)+L) + 11*g(1000), 0},
			// The last of 4 chains of 5 ranks gets each piece after those of the others.
			{"k-chain: c g + L + (n-1)(g+L) + (k-1) c g", schedule.KChain{Chains: 4}, 21, 8000, 1000, 4*g(1000) + L + 4*(g(1000)+L) + 7*4*g(1000), 0},
			// 31 ranks are 4 levels below the root, and the last leaf is the second child all the way.
			{"binary: h(2g+L) + (k-1) 2g", schedule.Binary{}, 31, 8000, 1000, 4*(2*g(1000)+L) + 7*2*g(1000), 0},
			{"split binary: h(2g+L) + (k/2-1) 2g + g(m/2) + L", schedule.SplitBinary{}, 31, 8000, 1000, 4*(2*g(1000)+L) + 3*2*g(1000) + g(4000) + L, 0},
			{"binomial: h (g+L)", schedule.Binomial{}, 32, 1000, 0, 5 * (g(1000) + L), 0},
			{"bine: h (g+L)", classic.Bine{}, 32, 1000, 0, 5 * (g(1000) + L), 0},
			{"k-nomial: ceil(log_r P) ((r-1) g + L)", schedule.KNomial{Radix: 4}, 64, 1000, 0, 3 * (3*g(1000) + L), 0},
			{"k-nomial of radix 3", schedule.KNomial{Radix: 3}, 27, 1000, 0, 3 * (2*g(1000) + L), 0},
			// n-1+ceil(log2 P) rounds, the least; no rank has n pieces before it has received them, the last of which the root sent as its n-th.
			{"circulant: (n-1+h)(g+L)", schedule.Circulant{}, 32, 16000, 1000, 20 * (g(1000) + L), 16*g(1000) + L},
			{"circulant of 23", schedule.Circulant{}, 23, 16000, 1000, 20 * (g(1000) + L), 16*g(1000) + L},
			// Sanders, Speck and Traeff 2009, section 4: 2h + k - 1 + 1 rounds.
			{"two-tree: (2h+k)(g+L)", classic.TwoTree{}, 32, 16000, 1000, (10 + 16) * (g(1000) + L), 16*g(1000) + L},
			{
				"scatter and ring: sum g(m/2^i)+L, and (P-1)(g(m/P)+L)",
				classic.ScatterRing{},
				32, 32000, 0,
				g(31000) + 5*L + 31*(g(1000)+L),
				g(32000) + L, // all bytes enter each rank
			},
			// Ranks that have the blocks of later rounds send them at once, before those
			// that others wait for: a prediction lets them (a library that asks the
			// receiver first does not), and may take twice the form.
			{
				"scatter and recursive doubling: twice sum g(m/2^i)+L, and sum g(2^i m/P)+L",
				classic.ScatterDoubling{},
				32, 32000, 0,
				2 * (g(31000) + 5*L + g(31000) + 5*L),
				g(32000) + 5*L, // all bytes enter each rank, and the last one is the fifth to have any
			},
		} {
			t.Run(fmt.Sprintf("%s, L = %g", c.name, L), func(t *testing.T) {
				e := newEvaluator(machine{ranks: c.ranks, transfers: hockney{L, G}})
				got := e.Predict(c.a, schedule.Problem{Ranks: c.ranks, Root: c.ranks / 3, Bytes: c.bytes, Segment: c.piece})
				if c.least == 0 && !casttest.Near(got, c.want, 1e-9) || got > c.want*(1+1e-9) || got < c.least*(1-1e-9) {
					t.Errorf("predict = %g, want %g, or from %g", got, c.want, c.least)
				}
			})
		}
	}
}
