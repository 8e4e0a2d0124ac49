package linkage_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Families are machines with known groups: random trees, fabrics,
// clouds, points in space and flat switches, with the faults that measured
// latencies have. The function families lists them; each holds any number of instances, of
// which 0 to 19 are for tuning and 20 to 39 are looked at only when a method is
// judged.
//
// A machine is made in two steps. A layout holds what is: exact latencies of all
// pairs, the true groups, and what is lastingly wrong with hosts and pairs. A measurement
// reads it: noise, outliers, slow rounds, drift, the clock's tick, pairs left out.
//
// The class of a family says what is hard about it, by a letter where it is one of
//
//	A  members of a group see hosts outside unevenly
//	B  the clock is coarse
//	C  pairs differ lastingly and widely, as in clouds
//	D  single hosts are slow
//	E  links are unequal, hosts sit on inner switches
//	F  hosts outside vary among themselves: dragonflies, tori
//	G  times drift during the measurement
//	H  pairs were not measured
//	L  many members times many outsiders at a small step
//	M  leaves of two hosts in large machines
//	N  steps that only hundreds of measurements show
//	O  the first rank of each node is slow
//
// and else by the kind of machine.
//
// internal/gen makes machines from text, for people; the constants of package linkage were chosen
// on those. The families here share no code with it, so that what holds on both was not
// fitted to one generator. They are Go code and not text because each fault is one small function.

// leastStep is the least step of a group that a method has to find. Smaller
// ones may be found; they are as true.
const leastStep = 1.22

// A trueGroup is a set of hosts that whoever built the machine would call one: the hosts of a switch,
// a rack, a socket.
type trueGroup struct {
	Hosts []int // ascending
	// Step is the smallest latency from a member to a host outside over the largest latency
	// between two members: exact latencies, before hosts' offsets and what is
	// wrong with single pairs. Where the latencies are those of nested groups it is the level of
	// the group around over that of this one. Below 1 the latencies
	// contradict the group.
	Step float64
	// Hidden groups are not to be told from the measurements although their step may be clear: the
	// clock is too coarse, too many of their pairs were not measured or take detours, or
	// noise is larger than the step because hosts have much overhead.
	Hidden bool
}

// demanded says whether a method has to find the group.
func (g trueGroup) demanded() bool { return !g.Hidden && g.Step >= leastStep }

// A familyMachine is what was measured on a machine, and what is true of it.
type familyMachine struct {
	Hosts       int
	Repetitions []mat.Matrix // latencies in s, NaN on the diagonal and where not measured
	Groups      []trueGroup  // without single hosts, all hosts, and equal sets
	// Spatial says that latencies are distances of points drawn at random. Points that happen
	// to be near each other are groups as good as any, so no group that is found
	// is false.
	Spatial bool
}

// A family makes machines of one kind.
type family struct {
	Name    string
	Class   string // what is hard about it, see the package's comment
	Grouped bool   // most instances have groups that are demanded

	make func(d *draw) (*layout, *measurement)
}

// machine makes the given instance. The same instance is the same machine, in every run.
func (f family) machine(instance int) *familyMachine {
	d := f.draw(instance)
	l, m := f.make(d)
	l.number(d)
	out := &familyMachine{Hosts: l.n, Spatial: l.spatial}
	out.Repetitions = m.read(d, l)
	for _, hosts := range l.distinct() {
		inside, outside := l.margins(hosts)
		out.Groups = append(out.Groups, trueGroup{
			Hosts:  hosts,
			Step:   outside / inside,
			Hidden: m.drowned(l, hosts, inside, outside) || l.detoured(hosts) || m.missing != nil && !l.told(hosts, m.missing),
		})
	}
	return out
}

// families returns the families. Their names are distinct.
func families() []family {
	return slices.Concat(trees(), faults(), hosts(), fabrics(), flats(), clouds(), spaces(), gaps())
}

// draw is the source of the instance.
func (f family) draw(instance int) *draw {
	h := fnv.New64a()
	h.Write([]byte(f.Name))
	return &draw{rand.New(rand.NewPCG(h.Sum64(), uint64(instance))), instance}
}

// A draw is where the random choices of one instance come from.
type draw struct {
	*rand.Rand
	instance int
}

// between is uniform in [lo, hi).
func (d *draw) between(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }

// whole is uniform in lo to hi.
func (d *draw) whole(lo, hi int) int { return lo + d.IntN(max(hi-lo, 0)+1) }

func (d *draw) chance(p float64) bool { return d.Float64() < p }

// pick draws one of a list.
func pick[T any](d *draw, list ...T) T { return list[d.IntN(len(list))] }

// size is a number of hosts: even on a logarithmic scale from 16 to 256, but for two
// instances of each twenty, which have 512 to 1024.
func (d *draw) size() int {
	if k := d.instance % 20; k == 9 || k == 18 {
		return d.whole(512, 1024)
	}
	return d.scale(16, 256)
}

// scale is even on a logarithmic scale.
func (d *draw) scale(lo, hi int) int {
	return int(float64(lo) * pow(float64(hi)/float64(lo), d.Float64()))
}
