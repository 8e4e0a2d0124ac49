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
	pool := &pool{
		all:   all,
		fresh: func(ranks []int) *carrier { return Wrap[S](newCommunicator(ranks)).carrier },
		idle:  map[string][]*carrier{},
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
	idle  map[string][]*carrier      // by name of the group; the same on all of its ranks
}

// comm makes a communicator of a carrier, and takes the carrier back when it is closed.
func (p *pool) comm(ranks []int, c *carrier) *Comm {
	group := name(ranks)
	return &Comm{carrier: c, free: func() { p.idle[group] = append(p.idle[group], c) }}
}

// take removes a carrier of the group from those that are idle.
func (p *pool) take(ranks []int) *carrier {
	idle := p.idle[name(ranks)]
	last := len(idle) - 1
	p.idle[name(ranks)] = idle[:last]
	return idle[last]
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
	all := j.pool.all
	// Those of all ranks are closed by all ranks: what is idle here is idle everywhere.
	if len(j.pool.idle[name(all)]) > 0 {
		return &Job{j.pool.comm(all, j.pool.take(all)), j.pool}, nil
	}
	return &Job{j.pool.comm(all, j.pool.fresh(all)), j.pool}, nil
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
	// gompi asks all ranks of the job to make groups together, each at least for itself.
	ranks := []int{j.Rank()}
	if color >= 0 {
		ranks = slices.DeleteFunc(slices.Clone(j.pool.all), func(rank int) bool { return number(rank, 0) != color })
		slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(number(a, 1), number(b, 1)) })
	}
	// An idle communicator is of use only if each group has one, as gompi makes those
	// of all groups at once.
	has := []byte{0}
	if len(j.pool.idle[name(ranks)]) > 0 {
		has[0] = 1
	}
	each, err := j.gather(has)
	if err != nil {
		return nil, err
	}
	var c *carrier
	if slices.Contains(each, 0) {
		c = j.pool.fresh(ranks)
	} else {
		c = j.pool.take(ranks)
	}
	part := j.pool.comm(ranks, c)
	if color < 0 {
		return nil, part.Close()
	}
	return part, nil
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
