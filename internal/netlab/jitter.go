package netlab

import (
	"math"
	"math/rand/v2"
)

// A jitter delays the arrival of frames at random. Frames between one pair of
// hosts stay in order, as on a real path: reordered TCP would retransmit.
type jitter struct {
	Jitter
	rng  *rand.Rand
	last []int64 // per pair: latest arrival so far, ns
}

func newJitter(j Jitter, hosts int) *jitter {
	if j.Mean == 0 && j.OutlierProbability == 0 {
		return nil
	}
	return &jitter{Jitter: j, rng: rand.New(rand.NewPCG(j.Seed, 0)), last: make([]int64, hosts*hosts)}
}

// delay returns the arrival time of a frame that would arrive at time at.
func (j *jitter) delay(pair int, at int64) int64 {
	extra := j.Mean * j.rng.ExpFloat64()
	if j.OutlierProbability > 0 && j.rng.Float64() < j.OutlierProbability {
		extra += j.Outlier
	}
	at = max(at+int64(math.Round(extra*1e9)), j.last[pair])
	j.last[pair] = at
	return at
}
