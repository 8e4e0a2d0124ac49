package ongompi

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// World is collective over all ranks of the job: it returns a communicator of
// them, on one that gompi makes for it. newCommunicator is gompi.NewCommunicator.
// The application has started MPI, and ends it when all is done.
func World[S any, G Gompi[S]](newCommunicator func(ranks []int) G) *Job {
	all := make([]int, newCommunicator(nil).Size())
	for rank := range all {
		all[rank] = rank
	}
	pool := &pool{all: all, idle: map[string][]*carrier{}}
	pool.fresh = func(ranks []int) *carrier {
		c := Wrap[S](newCommunicator(ranks)).carrier
		pool.made++
		c.number = pool.made
		return c
	}
	return &Job{pool.comm(all, pool.fresh(all)), pool}
}

// A Job is a communicator of all ranks of the job.
type Job struct {
	*Comm
	pool *pool
}

var _ mpi.Splitter = (*Job)(nil)

// A pool makes communicators of gompi, and keeps those that are closed.
type pool struct {
	all   []int                      // ranks of the job
	fresh func(ranks []int) *carrier // collective over all ranks, each with the ranks of its group
	made  int                        // carriers so far, the same on all ranks
	idle  map[string][]*carrier      // by name of the group; the same on all of its ranks, in any order
}

// comm makes a communicator of a carrier, and takes the carrier back when it is closed.
func (p *pool) comm(ranks []int, c *carrier) *Comm {
	group := name(ranks)
	return &Comm{carrier: c, free: func() { p.idle[group] = append(p.idle[group], c) }}
}

// oldest is the number of the oldest idle carrier of the group; 0: there is none.
func (p *pool) oldest(ranks []int) int {
	oldest := 0
	for _, c := range p.idle[name(ranks)] {
		if oldest == 0 || c.number < oldest {
			oldest = c.number
		}
	}
	return oldest
}

// take removes a carrier of the group from those that are idle.
func (p *pool) take(ranks []int, number int) *carrier {
	idle := p.idle[name(ranks)]
	i := slices.IndexFunc(idle, func(c *carrier) bool { return c.number == number })
	c := idle[i]
	p.idle[name(ranks)] = slices.Delete(idle, i, i+1)
	return c
}

// name is a name of the ranks in their order.
func name(ranks []int) string {
	var text []byte
	for _, rank := range ranks {
		text = binary.AppendUvarint(text, uint64(rank))
	}
	return string(text)
}

// Dup is collective: a communicator of the same ranks in the same order, whose
// messages never match those of j.
func (j *Job) Dup() (mpi.Communicator, error) {
	if j.closed {
		return nil, j.fault("Dup", -1, -1, mpi.ErrClosed)
	}
	part, err := j.group(j.pool.all, func(int) int { return 0 })
	if err != nil {
		return nil, err
	}
	return &Job{part, j.pool}, nil
}

// Split is collective: ranks with equal color >= 0 form a new communicator,
// ordered by key and then by old rank, which cannot be split further. A rank with
// color < 0 gets nil.
//
// It takes four messages of each rank, one after the other on rank 0: it is meant
// for set-up.
func (j *Job) Split(color, key int) (mpi.Communicator, error) {
	if j.closed {
		return nil, j.fault("Split", -1, -1, mpi.ErrClosed)
	}
	own := binary.LittleEndian.AppendUint64(nil, uint64(color))
	table, err := j.gather(binary.LittleEndian.AppendUint64(own, uint64(key)))
	if err != nil {
		return nil, err
	}
	number := func(rank, column int) int { // of the table: 0 the color, 1 the key
		return int(binary.LittleEndian.Uint64(table[16*rank+8*column:]))
	}
	colorOf := func(rank int) int { return number(rank, 0) }
	// gompi asks all ranks of the job to make groups together, each at least for itself.
	ranks := []int{j.Rank()}
	if color >= 0 {
		ranks = slices.DeleteFunc(slices.Clone(j.pool.all), func(rank int) bool { return colorOf(rank) != color })
		slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(number(a, 1), number(b, 1)) })
	}
	part, err := j.group(ranks, colorOf)
	if err != nil {
		return nil, err
	}
	if color < 0 {
		return nil, part.Close()
	}
	return part, nil
}

// group is collective: a communicator of the ranks of this one's group. Those of one color >= 0 are
// a group, others have groups of their own. gompi makes communicators of all groups at once: idle ones
// are of use only if each group has one, and its ranks agree which, as one that is closed here may
// be open there.
func (j *Job) group(ranks []int, color func(rank int) int) (*Comm, error) {
	own := j.pool.oldest(ranks)
	each, err := j.gather(binary.LittleEndian.AppendUint64(nil, uint64(own)))
	if err != nil {
		return nil, err
	}
	agreed := make(map[int]int) // by color
	for rank := range j.pool.all {
		theirs := int(binary.LittleEndian.Uint64(each[8*rank:]))
		first, known := agreed[color(rank)]
		if theirs == 0 || known && color(rank) >= 0 && theirs != first {
			return j.pool.comm(ranks, j.pool.fresh(ranks)), nil
		}
		agreed[color(rank)] = theirs
	}
	return j.pool.comm(ranks, j.pool.take(ranks, own)), nil
}

// gather is collective: it returns what the ranks have, one after the other, of
// equal lengths.
func (j *Job) gather(own []byte) ([]byte, error) {
	all := make([]byte, len(own)*j.Size())
	copy(all[len(own)*j.Rank():], own)
	if j.Rank() > 0 {
		if err := j.Send(own, 0, mpi.MaxTag); err != nil {
			return nil, err
		}
	} else {
		for rank := 1; rank < j.Size(); rank++ {
			if err := j.Recv(all[len(own)*rank:][:len(own)], rank, mpi.MaxTag); err != nil {
				return nil, err
			}
		}
	}
	return all, j.Bcast(all, 0)
}
