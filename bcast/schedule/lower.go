package schedule

import "github.com/topocast/topocast/mpi"

// A Mode says how the steps of a schedule become transfers.
type Mode uint8

const (
	// OneByOne has blocking transfers only, for a communicator that can do one thing at a time.
	OneByOne Mode = iota

	// InOrder ends each step before the next begins. Both steps of an exchange are under way at once.
	InOrder

	// Pipelined keeps the next receive posted while the current one is awaited, and lets the sends of one stage run on
	// during the next. A stage is one receive and the sends that follow it. No transfer is awaited earlier than the
	// order of the steps does it, so where that order ends this one does too.
	Pipelined
)

// Lower appends the steps of a rank as the flat list that interpreters perform: mpi.Scheduler in one call, and package
// bcast over request sets. Among the steps is no Native.
func Lower(dst []mpi.Step, ops []Op, rank int, mode Mode) []mpi.Step {
	if mode == Pipelined {
		p := pipeline{steps: dst, ops: ops}
		p.lower()
		return p.steps
	}
	for i := 0; i < len(ops); i++ {
		if !ops[i].Exchange {
			dst = append(dst, transfer(ops[i]))
			continue
		}
		sent, received := ops[i], ops[i+1]
		i++
		switch {
		case mode == InOrder:
			dst = append(dst, started(sent, 0), transfer(received), wait(0))
		case receivesFirst(rank, sent.Peer):
			dst = append(dst, transfer(received), transfer(sent))
		default:
			dst = append(dst, transfer(sent), transfer(received))
		}
	}
	return dst
}

// transfer is a Send or a Recv as a blocking step.
func transfer(op Op) mpi.Step {
	kind := mpi.StepSend
	if op.Kind == Recv {
		kind = mpi.StepRecv
	}
	return mpi.Step{Kind: kind, Peer: op.Peer, Offset: op.Offset, Length: op.Length}
}

// started is the start of a Send or a Recv.
func started(op Op, set int) mpi.Step {
	s := transfer(op)
	s.Set = set
	if s.Kind = mpi.StepStartSend; op.Kind == Recv {
		s.Kind = mpi.StepStartRecv
	}
	return s
}

func wait(set int) mpi.Step { return mpi.Step{Kind: mpi.StepWait, Set: set} }

// A pipeline lowers steps as Pipelined says. Sets 0 and 1 hold one receive each, sets 2 and 3 the sends of one stage
// each.
type pipeline struct {
	steps  []mpi.Step
	ops    []Op
	posted int // the step up to which receives are posted
	recv   int // set of the current receive
	send   int // set of the current stage is 2 + send
	sends  int // in it
}

func (p *pipeline) lower() {
	p.post(0)
	for _, op := range p.ops {
		if op.Kind == Send {
			if p.sends == mpi.StepSetSize { // a rank that only sends begins another stage
				p.nextStage()
			}
			p.steps = append(p.steps, started(op, 2+p.send))
			p.sends++
			continue
		}
		p.post(1 - p.recv)
		p.steps = append(p.steps, wait(p.recv))
		p.recv = 1 - p.recv
		if p.sends > 0 {
			p.nextStage()
		}
	}
	p.steps = append(p.steps, wait(3-p.send), wait(2+p.send))
}

// post starts the receive that comes next.
func (p *pipeline) post(set int) {
	for p.posted < len(p.ops) && p.ops[p.posted].Kind == Send {
		p.posted++
	}
	if p.posted < len(p.ops) {
		p.steps = append(p.steps, started(p.ops[p.posted], set))
		p.posted++
	}
}

// nextStage waits for the sends of the stage before the current one, whose set is used again.
func (p *pipeline) nextStage() {
	p.steps = append(p.steps, wait(3-p.send))
	p.send, p.sends = 1-p.send, 0
}
