package schedule

import (
	"bufio"
	"fmt"
	"io"
)

// WriteTraces writes what all ranks do in a broadcast as one time-independent
// trace of SimGrid (Casanova, Desprez, Markomanolis, Suter 2015), one rank after
// the other. smpirun replays it on any platform; its option -replay takes a file
// that lists the names of traces, here the one:
//
//	echo bcast.trace > list
//	smpirun -platform cluster.xml -hostfile hosts -replay list
//
// Ahead and the format are those of WriteTrace. The problem has to be valid.
func WriteTraces(w io.Writer, a Algorithm, p Problem, ahead bool) error {
	if err := p.Validate(); err != nil {
		return err
	}
	for rank, ops := range AllOps(nil, a, p) {
		if err := WriteTrace(w, rank, ops, ahead); err != nil {
			return err
		}
	}
	return nil
}

// WriteTrace writes the steps of a rank as a time-independent trace of SimGrid: a
// line per call of MPI, which names the rank, the call, its peer, tag and bytes.
//
//	1 init
//	1 recv 0 0 4096
//	1 send 2 0 4096
//	1 finalize
//
// The calls are those of mpi.Scheduler: each step ends before the next begins, or,
// with ahead, the next receive is posted while the current one is awaited, and the
// sends that follow a receive run on during the next. The tag counts the messages
// that went the same way before, so that a wait names one of those under way.
//
// A Native cannot be told, as SimGrid's traces know broadcasts of all ranks only: that is an error.
func WriteTrace(w io.Writer, rank int, ops []Op, ahead bool) error {
	for _, op := range ops {
		if op.Kind == Native {
			return fmt.Errorf("schedule: trace of rank %d: %v: want sends and receives only", rank, op)
		}
	}
	t := tracer{w: bufio.NewWriter(w), rank: rank, sent: map[int]int{}, received: map[int]int{}}
	t.line("init")
	if ahead {
		t.ahead(ops)
	} else {
		t.inOrder(ops)
	}
	t.line("finalize")
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("schedule: trace of rank %d: %w", rank, err)
	}
	return nil
}

// A tracer writes the trace of a rank. Its writer keeps the first error.
type tracer struct {
	w              *bufio.Writer
	rank           int
	sent, received map[int]int // by peer
}

// A call is one that was started, by what a wait names it.
type call struct{ src, dst, tag int }

func (t *tracer) line(action string, numbers ...int) {
	fmt.Fprint(t.w, t.rank, " ", action)
	for _, x := range numbers {
		fmt.Fprint(t.w, " ", x)
	}
	fmt.Fprintln(t.w)
}

// send writes a send or isend.
func (t *tracer) send(action string, op Op) call {
	tag := t.sent[op.Peer]
	t.sent[op.Peer]++
	t.line(action, op.Peer, tag, op.Length)
	return call{t.rank, op.Peer, tag}
}

// receive writes a recv or irecv.
func (t *tracer) receive(action string, op Op) call {
	tag := t.received[op.Peer]
	t.received[op.Peer]++
	t.line(action, op.Peer, tag, op.Length)
	return call{op.Peer, t.rank, tag}
}

func (t *tracer) wait(calls ...call) {
	for _, c := range calls {
		t.line("wait", c.src, c.dst, c.tag)
	}
}

func (t *tracer) inOrder(ops []Op) {
	for _, op := range ops {
		switch op.Kind {
		case Send:
			t.send("send", op)
		case Recv:
			t.receive("recv", op)
		case Exchange:
			sending := t.send("isend", op)
			t.receive("recv", op.Received())
			t.wait(sending)
		}
	}
}

// tracedSends bounds those of a stage, a receive and the sends that follow it, as the executor does.
const tracedSends = 32

func (t *tracer) ahead(ops []Op) {
	var current, next call // receives that are posted
	var sends, before []call
	turn := func() { // the sends of the stage before the last one end
		t.wait(before...)
		sends, before = before[:0], sends
	}
	posted := 0 // the step up to which receives are posted
	post := func() call {
		for posted < len(ops) && ops[posted].Kind == Send {
			posted++
		}
		if posted == len(ops) {
			return call{}
		}
		op := ops[posted]
		if op.Kind == Exchange {
			op = op.Received()
		}
		posted++
		return t.receive("irecv", op)
	}
	next = post()
	for _, op := range ops {
		if op.Kind != Recv {
			if len(sends) == tracedSends {
				turn()
			}
			sends = append(sends, t.send("isend", op))
		}
		if op.Kind == Send {
			continue
		}
		current, next = next, post()
		t.wait(current)
		if len(sends) > 0 {
			turn()
		}
	}
	t.wait(before...)
	t.wait(sends...)
}
