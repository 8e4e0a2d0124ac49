package bcast

import (
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// A compiledPlan is a plan for one root, and the part of this rank in it.
type compiledPlan struct {
	predict.Plan
	direct mpi.NativeBcast // native does all at once; nil: look at the rest
	part   schedule.Part   // nil: native
}

// compiledFor is the plan in use for the size and root, or nil.
func (b *Broadcaster) compiledFor(bytes, root int) *compiledPlan {
	plans := b.compiled[decisions.ClassOf(bytes)]
	if plans == nil {
		return nil
	}
	return plans[root]
}

// use compiles a plan for messages of the class of the given bytes from a root, which follow it from now on.
func (b *Broadcaster) use(p predict.Plan, bytes, root int) *compiledPlan {
	class := decisions.ClassOf(bytes)
	if b.compiled[class] == nil {
		b.compiled[class] = make([]*compiledPlan, b.ranks)
	}
	c := b.compile(p, bytes, root)
	if c.Algorithm == nil && bytes > 0 && 1<<class <= uint64(schedule.MaxSegment) {
		c.direct = b.native
	}
	b.compiled[class][root] = c
	return c
}

// compile works out the part of this rank in a plan for messages of the class of the given bytes.
func (b *Broadcaster) compile(p predict.Plan, bytes, root int) *compiledPlan {
	c := &compiledPlan{Plan: p}
	if p.Algorithm != nil {
		c.part = p.Algorithm.Prepare(b.decisions.Problem(p, bytes, root)).Of(b.comm.Rank())
	}
	return c
}

// maxSegments bounds the memory of a program: a segment takes up to four steps, and 4096 of them 0.6 MiB. A longer message
// is broadcast in parts. A rank that is done with one goes on with the next.
const maxSegments = 4096

// partBytes is how many of the bytes are broadcast as one part. The product is formed only where it is no more than
// they are: 4096 segments of 1 MiB are more than an int of 32 bits holds.
func (p *compiledPlan) partBytes(bytes int) int {
	switch {
	case p.Algorithm == nil:
		return min(bytes, schedule.MaxSegment)
	case p.Segment > 0 && bytes/p.Segment >= maxSegments:
		return maxSegments * p.Segment
	}
	return bytes
}

// perform broadcasts buf by a plan.
func (b *Broadcaster) perform(p *compiledPlan, buf []byte, root int) error {
	for part := p.partBytes(len(buf)); len(buf) > 0; {
		size := min(part, len(buf))
		var err error
		if p.Algorithm == nil {
			err = b.native.Bcast(buf[:size], root)
		} else {
			b.load(p, size, root, false)
			err = b.exec.run(buf[:size])
		}
		if err != nil {
			return b.exec.note(err)
		}
		buf = buf[size:]
	}
	return nil
}

// load makes the executor's program that of a plan for so many bytes. started asks for one that can be left wherever it
// waits. The last program is kept: loops broadcast the same again and again.
func (b *Broadcaster) load(p *compiledPlan, bytes, root int, started bool) {
	what := loading{p, bytes, started}
	if b.loaded == what {
		return
	}
	program := &b.exec.current
	program.ops = p.part.Ops(program.ops[:0], b.decisions.Problem(p.Plan, bytes, root))
	mode := schedule.Pipelined
	if !started {
		mode = b.exec.mode(bytes, len(program.ops), p.Blocking)
	}
	b.exec.lower(program, mode)
	b.loaded = what
}

// A loading says what the executor's program is for.
type loading struct {
	plan    *compiledPlan
	bytes   int
	started bool
}
