package collective

import (
	"github.com/topocast/topocast/mpi"
)

// Allreduce is collective: values of all ranks become their reduction, element by element.
// Reduction and len(values) are equal on all ranks.
//
// The result is the same on all ranks, bit by bit, and on every run with the same ranks, groups and
// costs: rounding depends on the order of sums, and each is done once, or in one order.
// The library's own keeps to that as far as it says so (MPI 4.0, section 6.9.1, recommends it), and what it makes of
// NaN under mpi.Min and Max is its own; of messages NaN comes everywhere.
//
// On messages it is, whichever costs least, recursive doubling, recursive halving and doubling
// (Rabenseifner 2004) or a ring (Patarasuk, Yuan 2009). With groups, each reduces to its first rank, these do
// what all would do without groups, and broadcast it. If the groups are of one size, short lists go around in each group, and
// then among ranks of the same place in all groups; and of long ones each rank reduces a part within its group, then
// with those of the same part in the other groups, so that every byte leaves a group but once.
func Allreduce[T Number](comm mpi.Communicator, values []T, with mpi.Reduction) error {
	c, err := of(comm)
	if err == nil {
		err = checkReduction(with)
	}
	switch {
	case err != nil:
	case c.reduce != nil && !c.byMessages(allreduction, len(values)*sizeOf[T]()):
		err = c.reduce.Allreduce(bytesOf(values), numberType[T](), with)
	default:
		err = allreduce(c, values, func(into, from []T) { combine(with, into, from) })
	}
	return failed("Allreduce", err)
}

// AllreduceFunc is Allreduce by a function of one's own: see ReduceFunc.
func AllreduceFunc[T comparable](comm mpi.Communicator, values []T, f func(into, from []T)) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil && f == nil {
		err = errNoFunction
	}
	if err == nil {
		err = allreduce(c, values, f)
	}
	return failed("Allreduce", err)
}

func allreduce[T any](c *Comm, values []T, f func(into, from []T)) error {
	if c.groups == nil {
		return allreduceTeam(c, c.all, values, f)
	}
	switch c.inGroups(len(values) * sizeOf[T]()) {
	case byParts:
		return allreduceParts(c, values, f)
	case byPeers:
		if err := allreduceTeam(c, c.own, values, f); err != nil {
			return err
		}
		return allreduceTeam(c, c.peers, values, f)
	}
	if _, err := reduceTeam(c, c.own, values, true, f); err != nil {
		return err
	}
	if c.own.me == 0 {
		if err := allreduceTeam(c, c.lead(), values, f); err != nil {
			return err
		}
	}
	return c.broadcast(c.own, bytesOf(values))
}

// The ways of an Allreduce in groups.
type way uint8

const (
	byLeaders way = iota // one rank of each group talks to those of others
	byPeers              // all do, each to that of its place
	byParts              // all do, each about a part of the list
)

// inGroups is the way that costs least. Messages of all ranks of a group share its way out.
func (c *Comm) inGroups(bytes int) way {
	if c.peers.size == 0 {
		return byLeaders
	}
	size, shared := c.own.size, c.own.size*bytes
	leaders := 2*c.costs.binomial(&c.own, bytes) + c.costs.binomial(&c.peers, bytes)
	peers := c.costs.binomial(&c.own, bytes) + c.costs.binomial(&c.peers, shared)
	parts := 2*c.costs.ring(size, bytes) + c.costs.binomial(&c.peers, bytes)
	switch {
	case parts < min(leaders, peers):
		return byParts
	case peers < leaders:
		return byPeers
	}
	return byLeaders
}

// allreduceTeam does it without groups.
func allreduceTeam[T any](c *Comm, t team, values []T, f func(into, from []T)) error {
	if t.size == 1 {
		return nil
	}
	core, bytes := t.core(), len(values)*sizeOf[T]()
	doubling, halving, ring := c.costs.doubling(&core, bytes), c.costs.halvingDoubling(&core, bytes), 2*c.costs.ring(t.size, bytes)
	switch {
	case doubling <= min(halving, ring):
		return doublingAllreduce(c, core, values, f)
	case halving <= ring:
		return halvingAllreduce(c, core, values, f)
	}
	return ringAllreduce(c, t, values, f)
}

// doublingAllreduce is recursive doubling. Both of a pair put the part of the higher into that of the
// lower, so that they get the same.
func doublingAllreduce[T any](c *Comm, t core, values []T, f func(into, from []T)) error {
	work, other := values, takeValues[T](c, len(values))
	if err := fold(c, &t, work, other, f); err != nil {
		return err
	}
	if t.id >= 0 {
		for step := 1; step < t.count; step *= 2 {
			partner := t.partner(t.id ^ step)
			if err := c.exchange(bytesOf(work), partner, bytesOf(other), partner); err != nil {
				return err
			}
			if t.id&step != 0 {
				work, other = other, work
			}
			f(work, other)
		}
		if len(values) > 0 && &work[0] != &values[0] {
			copy(values, work)
		}
	}
	return unfold(c, &t, values)
}

// halvingAllreduce is recursive halving, and doubling on the way back.
func halvingAllreduce[T any](c *Comm, t core, values []T, f func(into, from []T)) error {
	scratch := takeValues[T](c, len(values))
	if err := fold(c, &t, values, scratch, f); err != nil {
		return err
	}
	if t.id >= 0 {
		if err := halve(c, &t, values, scratch, f); err != nil {
			return err
		}
		for step := 1; step < t.count; step *= 2 {
			mine := t.id &^ (step - 1)
			theirs, partner := mine^step, t.partner(t.id^step)
			if err := c.exchange(bytesOf(between(values, &t, mine, mine+step)), partner, bytesOf(between(values, &t, theirs, theirs+step)), partner); err != nil {
				return err
			}
		}
	}
	return unfold(c, &t, values)
}

// ringAllreduce reduces part i on place i along the ring, and sends the parts around.
func ringAllreduce[T any](c *Comm, t team, values []T, f func(into, from []T)) error {
	if err := ringReduce(c, t, values, f); err != nil {
		return err
	}
	return ringSpread(c, t, values)
}

// slot is the part of values that belongs to a place, which may be below 0 or beyond the last by less than the size.
func slot[T any](t *team, values []T, place int) []T {
	place = (place + t.size) % t.size
	return values[part(place, t.size, len(values)):part(place+1, t.size, len(values))]
}

// ringReduce reduces part i on place i: in each step, every rank passes on what it has of one part.
func ringReduce[T any](c *Comm, t team, values []T, f func(into, from []T)) error {
	scratch := takeValues[T](c, len(values)/t.size+1)
	right, left := t.rank((t.me+1)%t.size), t.rank((t.me-1+t.size)%t.size)
	for step := 1; step < t.size; step++ {
		into := slot(&t, values, t.me-step-1)
		from := scratch[:len(into)]
		if err := c.exchange(bytesOf(slot(&t, values, t.me-step)), right, bytesOf(from), left); err != nil {
			return err
		}
		f(into, from)
	}
	return nil
}

// ringSpread sends part i around from place i.
func ringSpread[T any](c *Comm, t team, values []T) error {
	right, left := t.rank((t.me+1)%t.size), t.rank((t.me-1+t.size)%t.size)
	for step := range t.size - 1 {
		if err := c.exchange(bytesOf(slot(&t, values, t.me-step)), right, bytesOf(slot(&t, values, t.me-step-1)), left); err != nil {
			return err
		}
	}
	return nil
}

// allreduceParts lets each rank of a group care for a part of the list.
func allreduceParts[T any](c *Comm, values []T, f func(into, from []T)) error {
	if err := ringReduce(c, c.own, values, f); err != nil {
		return err
	}
	if err := allreduceTeam(c, c.peers, slot(&c.own, values, c.own.me), f); err != nil {
		return err
	}
	return ringSpread(c, c.own, values)
}
