package families

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// leastStep is the least step of a group that a method has to find. Smaller
// ones may be found; they are as true.
const leastStep = 1.22

// A Group is a set of hosts that whoever built the machine would call one: the hosts of a switch,
// a rack, a socket.
type Group struct {
	Hosts []int // ascending
	// Step is the smallest latency from a member to a host outside over the largest latency
	// between two members: exact latencies, before hosts' offsets and what is
	// wrong with single pairs. Where the latencies are those of nested groups it is the level of
	// the group around over that of this one. Below 1 the latencies
	// contradict the group.
	Step float64
	// Hidden groups are not to be told from the readings although their step may be clear: the
	// clock is too coarse, too many of their pairs were not measured or take detours, or
	// noise is larger than the step because hosts have much overhead.
	Hidden bool
}

// Demanded says whether a method has to find the group.
func (g Group) Demanded() bool { return !g.Hidden && g.Step >= leastStep }

// A Machine is what was measured on a machine, and what is true of it.
type Machine struct {
	Hosts       int
	Repetitions []mat.Matrix // latencies in s, NaN on the diagonal and where not measured
	Groups      []Group      // without single hosts, all hosts, and equal sets
	// Spatial says that latencies are distances of points drawn at random. Points that happen
	// to be near each other are groups as good as any, so no group that is found
	// is false.
	Spatial bool
}

// A Family makes machines of one kind.
type Family struct {
	Name    string
	Class   string // what is hard about it, see the package's comment
	Grouped bool   // most instances have groups that are demanded

	make func(d *draw) (*layout, *measurement)
}

// Machine makes the given instance. The same instance is the same machine, in every run.
func (f Family) Machine(instance int) *Machine {
	d := f.draw(instance)
	l, m := f.make(d)
	l.number(d)
	out := &Machine{Hosts: l.n, Spatial: l.spatial}
	out.Repetitions = m.read(d, l)
	for _, hosts := range l.distinct() {
		inside, outside := l.borders(hosts)
		out.Groups = append(out.Groups, Group{
			Hosts:  hosts,
			Step:   outside / inside,
			Hidden: m.drowned(l, hosts, inside, outside) || l.detoured(hosts) || m.missing != nil && !l.told(hosts, m.missing),
		})
	}
	return out
}

// All returns the families. Their names are distinct.
func All() []Family {
	return slices.Concat(trees(), faults(), hosts(), fabrics(), flats(), clouds(), spaces(), gaps())
}

// draw is the source of the instance.
func (f Family) draw(instance int) *draw {
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
