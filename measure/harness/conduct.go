package harness

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// A Conductor is one rank's side of a measurement that rank 0 leads in rounds. Rank 0
// plans a round and tells it, all ranks act, and rank 0 gathers what they bring.
// The conductor keeps the ranks together: budget, context, silence, failures.
type Conductor struct {
	Comm      mpi.Communicator // a duplicate of the caller's
	Now       func() float64   // s, the communicator's clock
	Ctx       context.Context  // the caller's, for measurements that are parts of this one
	IsVirtual bool             // time is virtual, as that of simulated ranks

	silence *watch // nil where the rank cannot be watched
	barrier *Barrier
	start   float64 // s, when Lead was called
	end     float64 // s, when the budget of rank 0 ends; +Inf: never
	stopped stop    // why all ranks have stopped, or goOn
	failed  error   // why this rank cannot do its part
	idle    bool    // this rank has no part in the round
}

// A Play is rank 0's means to lead: it tells all ranks a round, lets them act, and returns what
// each has brought. Once the ranks have stopped it returns nil for each, and nobody acts.
type Play func(round []byte) (found [][]float64, err error)

// Conduct calls work on all ranks with a conductor on a duplicate of comm, so that its messages never match those of the caller,
// and returns what work returns. After an error that is the zero value. If comm cannot be duplicated, the conductor is on
// comm itself. The silence of rank 0 counts, see Control.Silence. It is collective.
//
// With the Ctx of a conductor it is a part of that one's measurement. The ranks then meet under the watch of the whole before the part
// begins. So a rank is missed that has fallen silent between two parts.
func Conduct[T any](ctx context.Context, comm mpi.Communicator, silence time.Duration, work func(*Conductor) (T, error)) (result T, err error) {
	whole, _ := ctx.Value(conductorKey{}).(*Conductor)
	own, isDuplicate, err := whole.duplicate(comm)
	if err != nil {
		return result, fmt.Errorf("harness: %w", err)
	}
	if c, ok := own.(io.Closer); ok && isDuplicate {
		defer func() {
			if closing := c.Close(); closing != nil && err == nil {
				err = fmt.Errorf("harness: closing the duplicate: %w", closing)
			}
		}()
	}
	err = watched(own, silence, func(w *watch) (err error) {
		c := &Conductor{Comm: own, Now: share.Clock(own), silence: w, barrier: NewBarrier(own), end: math.Inf(1)}
		_, c.IsVirtual = own.(interface{ Sleep(seconds float64) })
		c.Ctx, c.barrier.watch = context.WithValue(ctx, conductorKey{}, c), w
		result, err = work(c)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// conductorKey is the key of the conductor in its Ctx.
type conductorKey struct{}

// duplicate returns a duplicate of comm for a part of the measurement, or comm itself if it is no mpi.Splitter. Where ranks are
// watched it waits for all of them first. The conductor may be nil.
func (c *Conductor) duplicate(comm mpi.Communicator) (own mpi.Communicator, isDuplicate bool, err error) {
	s, ok := comm.(mpi.Splitter)
	if !ok {
		return comm, false, nil
	}
	split := func() (err error) {
		own, err = s.Split(0, comm.Rank())
		return err
	}
	if c == nil || c.silence == nil {
		err = split()
		return own, true, err
	}
	c.silence.next()
	if _, err := c.barrier.wait(byte(goOn), beginning, hearLimits); err != nil {
		return nil, false, err
	}
	err = c.Among((comm.Rank()+1)%comm.Size(), split)
	return own, true, err
}

// Lead calls lead on rank 0, and act on all ranks in each round that lead plays. An error of lead
// is one of all ranks. The budget of rank 0 counts, see Control.Budget. It is collective.
//
// An act gets what rank 0 has planned, and returns what rank 0 is to have. An error of it is one of the communicator, which is unusable
// afterwards; see Conductor.Fail for others.
//
// A round costs O(log n) messages of each rank to be told and to be gathered.
func (c *Conductor) Lead(budget time.Duration, act func(round []byte) ([]float64, error), lead func(Play) error) error {
	c.start, c.end, c.stopped, c.failed = c.Now(), math.Inf(1), goOn, nil
	if c.Comm.Rank() != 0 {
		return c.follow(act)
	}
	switch {
	case budget < 0:
		lead = func(Play) error { return fmt.Errorf("Settings.Budget: %v: want at least 0", budget) }
	case budget > 0:
		c.end = c.start + budget.Seconds()
	}
	var broken error // of the communicator: nobody can be told
	err := lead(func(round []byte) ([][]float64, error) {
		found := make([][]float64, c.Comm.Size())
		if c.stopped != goOn || broken != nil {
			return found, broken
		}
		if _, broken = c.tell(append([]byte{1}, round...)); broken != nil { // an empty message is the end
			return nil, broken
		}
		var refused error
		broken = c.play(act, round, func(rank int, data []byte) {
			if data[0] == 0 {
				found[rank] = share.Floats(data[1:])
			} else if refused == nil {
				refused = fmt.Errorf("rank %d: %s", rank, data[1:])
			}
		})
		if broken != nil {
			return nil, broken
		}
		return found, refused
	})
	if broken != nil {
		return broken
	}
	if _, broken = c.tell(nil); broken != nil {
		return broken
	}
	return Agree(c.Comm, c, err)
}

// follow acts in the rounds that rank 0 tells of, until it tells of none.
func (c *Conductor) follow(act func(round []byte) ([]float64, error)) error {
	for {
		round, err := c.tell(nil)
		switch {
		case err != nil:
			return err
		case len(round) == 0:
			return Agree(c.Comm, c, nil)
		}
		if err := c.play(act, round[1:], nil); err != nil {
			return err
		}
	}
}

// play acts in a round, and hands rank 0 what the ranks have found, behind a byte that tells whether
// it is a failure.
func (c *Conductor) play(act func([]byte) ([]float64, error), round []byte, take func(rank int, data []byte)) error {
	c.idle = false
	found, err := act(round)
	if err != nil {
		return fmt.Errorf("rank %d: %w", c.Comm.Rank(), err)
	}
	var data []byte
	switch {
	case c.failed != nil:
		data = append([]byte{1}, c.failed.Error()...)
	case len(found) > 0:
		data = share.AppendFloats([]byte{0}, found)
	}
	return c.gather(data, take)
}

// gather hands rank 0 what ranks have found along a binomial tree, together with what the
// ranks below them have; nothing is sent of a rank that has found nothing. Rank 0 takes it
// in the order of ranks. The more ranks are below the one that a rank
// waits for, the longer it waits. So the first to give up is right about whom it blames.
func (c *Conductor) gather(own []byte, take func(rank int, data []byte)) error {
	const head = 8 // rank and length
	var all []byte
	if len(own) > 0 {
		all = binary.LittleEndian.AppendUint32(all, uint32(c.Comm.Rank()))
		all = append(binary.LittleEndian.AppendUint32(all, uint32(len(own))), own...)
	}
	defer c.silence.done()
	wait := func(child, depth int) { c.watch().wait(child, delivering, reportLimits+depth) }
	all, err := share.Binomial(c.Comm, 0, tagData).Concatenate(all, wait)
	if err != nil || take == nil {
		return err
	}
	for len(all) > 0 {
		end := head + int(binary.LittleEndian.Uint32(all[4:]))
		take(int(binary.LittleEndian.Uint32(all)), all[head:end])
		all = all[end:]
	}
	return nil
}

// Meet waits for all ranks, and tells all of them whether to go on: until the context
// of any rank has ended, or the budget, or a rank has failed. It is collective.
func (c *Conductor) Meet() (bool, error) {
	if c.stopped != goOn {
		return false, nil
	}
	c.silence.next()
	own := goOn
	switch {
	case c.failed != nil:
		own = stopFailed
	case c.Ctx.Err() != nil:
		own = stopCancelled
	case c.Now() >= c.end:
		own = stopBudget
	}
	word, err := c.barrier.Wait(byte(own))
	c.stopped = stop(word)
	return c.stopped == goOn, err
}

// With calls an exchange with another rank, which does the same with this one.
func (c *Conductor) With(peer int, exchange func() error) error {
	if err := c.under(peer, measuring, exchange); err != nil {
		return fmt.Errorf("exchange with rank %d: %w", peer, err)
	}
	return nil
}

// Among calls an exchange with another rank while others exchange messages with both of them.
func (c *Conductor) Among(peer int, exchange func() error) error {
	return c.under(peer, sharing, exchange)
}

// under calls an exchange, which may take one limit.
func (c *Conductor) under(peer int, doing doing, exchange func() error) error {
	c.silence.wait(peer, doing, 1)
	defer c.silence.done()
	return exchange()
}

// Fail says that this rank cannot do its part, for a reason other than the communicator: all ranks stop
// when they meet next, and the round fails on rank 0. Nil says nothing.
func (c *Conductor) Fail(err error) {
	if c.failed == nil {
		c.failed = err
	}
}

// Idle says that this rank has no part in the round. It then waits for those that have
// one, without a watch, until the next round.
func (c *Conductor) Idle() { c.idle = true }

// Await calls an exchange in which the other ranks wait for rank 0, which comes to one after the other, or plans.
func (c *Conductor) Await(exchange func() error) error {
	if c != nil && c.Comm.Rank() != 0 {
		c.watch().wait(0, hearing, hearLimits)
		defer c.silence.done()
	}
	return exchange()
}

// tell returns the data of rank 0 on all ranks. It is collective.
func (c *Conductor) tell(data []byte) (told []byte, err error) {
	err = c.Await(func() error {
		told, err = share.Binomial(c.Comm, 0, tagData).TellAny(data)
		return err
	})
	return told, err
}

// watch is the one that looks after what this rank does in a round.
func (c *Conductor) watch() *watch {
	if c.idle {
		return nil
	}
	return c.silence
}

// Stopped is why the ranks have stopped early, or "".
func (c *Conductor) Stopped() Stopped { return c.stopped.reason() }

// Elapsed is the time in s since Lead was called.
func (c *Conductor) Elapsed() float64 { return c.Now() - c.start }

// End is when the budget ends by the clock, in s; +Inf for never, and on other ranks than 0.
func (c *Conductor) End() float64 { return c.end }
