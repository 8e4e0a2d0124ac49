package main

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// pipelineSizes are those for which tables 6.4 and 6.6 tell pipelines with blocking messages and with others (*) apart.
func pipelineSizes() []int { return []int{1 << 20, 2 << 20, 8 << 20} }

// pipelinePieces is into how many segments messages are cut: enough to overlap.
const pipelinePieces = 16

// pipelineTie is the share by which times differ that are equal.
const pipelineTie = 0.01

// pipelines plays the pipeline inside magpie's groups with blocking and with non-blocking messages.
func pipelines(ctx context.Context, out *outcome.Outcome, stage *stage, machines []broadcastMachine) error {
	s := out.Section("Pipelines with blocking and non-blocking messages (tables 6.4 and 6.6)")
	s.Say("Simulated: pipeline_m in %d segments, each rank with one message under way after the other (blocking), and with the next one coming while it hands on the last (*). Times within 1 %% are equal. Of the pipelines in table 6.6 two are non-blocking and two blocking.", pipelinePieces)
	t := s.Table("pipelines", outcome.Text("machine"), outcome.Text("size"), outcome.Text("faster"), outcome.Number("blocking", "s"), outcome.Number("non-blocking", "s"), outcome.Number("ratio", ""))
	// Of table 6.6, by machine and size.
	printed := map[string]map[int]string{
		"BETZY, P = 512":  {1 << 20: "pipeline*_m"},
		"BETZY, P = 1024": {1 << 20: "pipeline_m"},
		"BETZY, P = 2048": {2 << 20: "pipeline*_m", 8 << 20: "pipeline_m"},
	}
	cells, same := 0, 0
	for i := range machines {
		m := &machines[i]
		if m.large && !stage.full {
			continue
		}
		_, c, group, err := m.network()
		if err != nil {
			return err
		}
		if group < 2 {
			s.Say("%s has no groups for magpie.", m.name)
			continue
		}
		for _, size := range pipelineSizes() {
			fmt.Fprintf(stage.progress, "pipelines: %s, %s\n", m.name, quantity.Bytes(size))
			var took [2]float64
			for k, blocking := range []bool{true, false} {
				if err := ctx.Err(); err != nil {
					return err
				}
				if took[k], err = pipelined(c, m.level, size, blocking); err != nil {
					return err
				}
			}
			faster := "equal"
			switch ratio := took[0] / took[1]; {
			case ratio > 1+pipelineTie:
				faster = "pipeline*_m"
			case ratio < 1-pipelineTie:
				faster = "pipeline_m"
			}
			t.Row(m.name, quantity.Bytes(size), faster, took[0], took[1], took[0]/took[1])
			if name := printed[m.name][size]; name != "" {
				cells++
				if name == faster {
					same++
				}
			}
		}
	}
	if cells > 0 {
		s.Compare(outcome.Measured, "pipelines of table 6.6 that are (non-)blocking as printed", "", float64(cells), float64(same))
	}
	return nil
}

// pipelined is the time in s of one broadcast from rank 0.
func pipelined(c *simnet.Cluster, level, size int, blocking bool) (float64, error) {
	settings := c.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = reinfjellOverhead, reinfjellOverhead
	settings.HollowAbove = 1
	ends := make([]float64, c.Graph.Hosts())
	var start float64
	p := schedule.Problem{Ranks: len(ends), Bytes: size, Segment: size / pipelinePieces, Tree: c.Hierarchy}
	prepared := schedule.Magpie2{Level: level, Between: schedule.Flat{}, Within: schedule.Chain{}}.Prepare(p)
	buf := make([]byte, size) // what it holds does not matter
	err := simnet.Run(c.Graph, nil, settings, func(comm mpi.Communicator) error {
		clock := comm.(mpi.Clock)
		if comm.Rank() == 0 {
			start = clock.Now()
		}
		pass := passOn
		if blocking {
			pass = passOneByOne
		}
		err := pass(comm, prepared.Of(comm.Rank()).Ops(nil, p), buf)
		ends[comm.Rank()] = clock.Now()
		return err
	})
	last := 0.0
	for _, end := range ends {
		last = max(last, end-start)
	}
	return last, err
}

// pipelineTag is that of the segments.
const pipelineTag = 1

// passOneByOne does what a rank has to do with Send and Recv.
func passOneByOne(comm mpi.Communicator, ops []schedule.Op, buf []byte) error {
	for _, op := range ops {
		pass := comm.Recv
		if op.Kind == schedule.Send {
			pass = comm.Send
		}
		if err := pass(buf[op.Offset:op.Offset+op.Length], op.Peer, pipelineTag); err != nil {
			return err
		}
	}
	return nil
}

// passOn posts the next receive before it waits for one, and waits for sends at the end.
func passOn(comm mpi.Communicator, ops []schedule.Op, buf []byte) error {
	nb, ok := comm.(mpi.NonBlocking)
	if !ok {
		return passOneByOne(comm, ops, buf)
	}
	sends, received, next := nb.NewRequests(), nb.NewRequests(), nb.NewRequests()
	post := func(set mpi.Requests, from int) error {
		for _, op := range ops[from:] {
			if op.Kind == schedule.Recv {
				return set.Irecv(buf[op.Offset:op.Offset+op.Length], op.Peer, pipelineTag)
			}
		}
		return nil
	}
	if err := post(next, 0); err != nil {
		return err
	}
	for i, op := range ops {
		if op.Kind == schedule.Send {
			if err := sends.Isend(buf[op.Offset:op.Offset+op.Length], op.Peer, pipelineTag); err != nil {
				return err
			}
			continue
		}
		received, next = next, received
		if err := post(next, i+1); err != nil {
			return err
		}
		if err := received.WaitAll(); err != nil {
			return err
		}
	}
	return sends.WaitAll()
}
