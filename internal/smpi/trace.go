package smpi

import (
	"bufio"
	"fmt"
	"io"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
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
func WriteTraces(w io.Writer, a schedule.Algorithm, p schedule.Problem, ahead bool) error {
	if err := p.Validate(); err != nil {
		return err
	}
	for rank, ops := range schedule.AllOps(nil, a, p) {
		if err := WriteTrace(w, rank, ops, ahead); err != nil {
			return err
		}
	}
	return nil
}

// WriteTrace writes the steps of a rank as a time-independent trace of SimGrid: a line per call of MPI, which names the
// rank, the call, its peer, tag and bytes.
//
//	1 init
//	1 recv 0 0 4096
//	1 send 2 0 4096
//	1 finalize
//
// The calls are those of schedule.Lower: InOrder, or Pipelined with ahead. The tag counts the messages that went the same way
// before, so that a wait names one of those under way.
//
// A Native is an error: SimGrid's traces know broadcasts of all ranks only.
func WriteTrace(w io.Writer, rank int, ops []schedule.Op, ahead bool) error {
	for _, op := range ops {
		if op.Kind == schedule.Native {
			return fmt.Errorf("smpi: trace of rank %d: %v: want sends and receives only", rank, op)
		}
	}
	mode := schedule.InOrder
	if ahead {
		mode = schedule.Pipelined
	}
	out := bufio.NewWriter(w) // keeps the first error
	line := func(action string, numbers ...int) {
		fmt.Fprint(out, rank, " ", action)
		for _, x := range numbers {
			fmt.Fprint(out, " ", x)
		}
		fmt.Fprintln(out)
	}
	messages := [2]map[int]int{{}, {}}  // sent and received, by peer
	var underWay [mpi.StepSets][][3]int // source, destination and tag
	line("init")
	for _, s := range schedule.Lower(nil, ops, rank, mode) {
		if s.Kind == mpi.StepWait {
			for _, name := range underWay[s.Set] {
				line("wait", name[:]...)
			}
			underWay[s.Set] = underWay[s.Set][:0]
			continue
		}
		call := [...]string{mpi.StepSend: "send", mpi.StepRecv: "recv", mpi.StepStartSend: "isend", mpi.StepStartRecv: "irecv"}[s.Kind]
		count, src, dst := messages[0], rank, s.Peer
		if s.Kind == mpi.StepRecv || s.Kind == mpi.StepStartRecv {
			count, src, dst = messages[1], s.Peer, rank
		}
		tag := count[s.Peer]
		count[s.Peer]++
		line(call, s.Peer, tag, s.Length)
		if s.Kind >= mpi.StepStartSend {
			underWay[s.Set] = append(underWay[s.Set], [3]int{src, dst, tag})
		}
	}
	line("finalize")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("smpi: trace of rank %d: %w", rank, err)
	}
	return nil
}
