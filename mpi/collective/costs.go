package collective

import (
	"fmt"
	"math"
)

// Costs are the parameters of LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995) by which
// algorithms are chosen, the same for all pairs of ranks. Zero means the default; they
// only have to be right within a factor of some.
type Costs struct {
	Latency  float64 // L, s; default 5 us
	Overhead float64 // o of sending or receiving, s; default 1 us
	PerByte  float64 // G, s/B; default 0.8 ns/B, 10 Gbit/s
	Copy     float64 // of copying in memory, s/B; default 0.1 ns/B
}

func (c Costs) validate() (Costs, error) {
	for _, f := range []struct {
		name  string
		value *float64
		usual float64
	}{{"Latency", &c.Latency, 5e-6}, {"Overhead", &c.Overhead, 1e-6}, {"PerByte", &c.PerByte, 0.8e-9}, {"Copy", &c.Copy, 0.1e-9}} {
		if !(*f.value >= 0) || math.IsInf(*f.value, 1) {
			return c, fmt.Errorf("Settings.Costs.%s: %g: want at least 0 and finite", f.name, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.usual
		}
	}
	return c, nil
}

// message is what one of the given bytes takes: L + 2o + nG.
func (c *Costs) message(bytes float64) float64 { return c.Latency + 2*c.Overhead + bytes*c.PerByte }

// The costs below are those of Thakur, Rabenseifner and Gropp 2005, table 1 and section 4, without computation.

func (c *Costs) doubling(t *core, bytes int) float64 {
	return float64(log2(t.count))*c.message(float64(bytes)) + c.folding(t, bytes)
}

func (c *Costs) halvingDoubling(t *core, bytes int) float64 {
	moved := float64(bytes) * float64(t.count-1) / float64(t.count)
	return 2*(float64(log2(t.count))*c.message(0)+moved*c.PerByte) + c.folding(t, bytes)
}

// folding takes two messages more, as the result has to go back.
func (c *Costs) folding(t *core, bytes int) float64 {
	if t.over == 0 {
		return 0
	}
	return 2 * c.message(float64(bytes))
}

func (c *Costs) ring(size, bytes int) float64 {
	return float64(size-1) * c.message(float64(bytes)/float64(size))
}

func (c *Costs) binomial(t *team, bytes int) float64 {
	return float64(t.rounds()) * c.message(float64(bytes))
}

// bruckAllgather moves all bytes but the rank's own, and all of them in memory at the end.
func (c *Costs) bruckAllgather(t *team, bytes int) float64 {
	return float64(t.rounds())*c.message(0) + float64(bytes)*(c.PerByte+c.Copy)
}

// bruckAlltoall moves half of all bytes in each round, and packs and unpacks them.
func (c *Costs) bruckAlltoall(t *team, bytes int) float64 {
	return float64(t.rounds()) * (c.message(float64(bytes)/2) + float64(bytes)*c.Copy)
}

// linear is a root that sends to or receives from everybody by itself.
func (c *Costs) linear(t *team, bytes int) float64 {
	return c.message(float64(bytes)) + float64(t.size-2)*c.Overhead
}

// tree is a binomial gather or scatter of so many bytes in all.
func (c *Costs) tree(t *team, bytes int) float64 {
	return float64(t.rounds())*c.message(0) + float64(bytes)*(c.PerByte+c.Copy)
}

func log2(count int) int {
	k := 0
	for 1<<k < count {
		k++
	}
	return k
}
