package simnet

import "math/rand/v2"

// Clocks say how far apart the clocks of machines are, as Clock.Now tells them. Ranks of one
// machine share a clock, and the seed of the settings draws the values. Default: one clock for all.
type Clocks struct {
	Apart float64 // s; each clock is ahead by a value uniform in [-Apart, Apart]
	Drift float64 // s per s; each clock is fast by a value uniform in [-Drift, Drift], below 0.5
}

// clockStream keeps the clocks apart from the noise and the stalls, see stallStream.
const clockStream = 1 << 33

// setClock draws the clock of the rank's machine.
func (r *rank) setClock() {
	s := &r.world.settings
	rng := rand.New(rand.NewPCG(s.Seed, clockStream+uint64(r.world.machine[r.host])))
	r.ahead = s.Clocks.Apart * (2*rng.Float64() - 1)
	r.fast = s.Clocks.Drift * (2*rng.Float64() - 1)
}
