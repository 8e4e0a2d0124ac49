//go:build linux

package mpi_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// stopping is a test of pairs in which a rank that fails is stopped, as a debugger or a node
// that swaps does it, in its second exchange.
type stopping struct {
	comm      mpi.Communicator
	fails     bool
	exchanges int
}

func (s *stopping) exchange(rows []float64, peer int, _ bool, task int) ([]float64, error) {
	if task == harness.WarmUp {
		return rows, nil
	}
	if s.exchanges++; s.fails && s.exchanges == 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return rows, err
		}
	}
	word := make([]byte, 1)
	if s.comm.Rank() < peer {
		if err := s.comm.Send(word, peer, harness.FirstTag); err != nil {
			return rows, err
		}
		return rows, s.comm.Recv(word, peer, harness.FirstTag)
	}
	if err := s.comm.Recv(word, peer, harness.FirstTag); err != nil {
		return rows, err
	}
	return rows, s.comm.Send(word, peer, harness.FirstTag)
}

// stopped is a rank that is stopped in its first message of a measurement's own.
type stopped struct{ *mpi.Comm }

func (s stopped) Split(color, key int) (mpi.Communicator, error) {
	c, err := s.Comm.Split(color, key)
	if err != nil {
		return nil, err
	}
	return stopped{c.(*mpi.Comm)}, nil
}

func (s stopped) Send(buf []byte, dst, tag int) error {
	if tag >= harness.FirstTag && tag < mpi.MaxTag { // which collects the names of hosts
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
	}
	return s.Comm.Send(buf, dst, tag)
}

// checkStopped checks the ranks, of which one is stopped.
func checkStopped(c mpi.Communicator, fails bool) error {
	star, err := gen.Parse(fmt.Sprintf("star:%d", c.Size()))
	if err != nil {
		return err
	}
	if fails {
		c = stopped{c.(*mpi.Comm)}
	}
	_, err = check.Measure(context.Background(), c, &check.Settings{Graph: star.Graph, Bytes: 1000, Silence: 2 * time.Second})
	return err
}

// shareStopped measures transfers that are under way together, of which one rank is stopped.
func shareStopped(c mpi.Communicator, fails bool) error {
	var ring []model.Transfer
	for rank := range c.Size() {
		ring = append(ring, model.Transfer{Src: rank, Dst: (rank + 1) % c.Size(), Bytes: 1000})
	}
	if fails {
		c = stopped{c.(*mpi.Comm)}
	}
	_, err := concurrent.Measure(context.Background(), c, &concurrent.Settings{Patterns: [][]model.Transfer{ring}, MaxIterations: 10, Control: harness.Control{Silence: 2 * time.Second}})
	return err
}

// measureStopped measures all pairs, of which one rank is stopped.
func measureStopped(c mpi.Communicator, fails bool) error {
	_, err := harness.Conduct(context.Background(), c, 2*time.Second, func(own *harness.Conductor) (*harness.Outcome, error) {
		return own.AllPairs((&stopping{comm: c, fails: fails}).exchange, nil)
	})
	return err
}
