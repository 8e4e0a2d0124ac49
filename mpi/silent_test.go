//go:build mpi && cgo

package mpi_test

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// stopping is a test of pairs in which a rank that fails is stopped, as a debugger or a node
// that swaps does it, in its second exchange.
type stopping struct {
	comm      mpi.Communicator
	fails     bool
	exchanges int
}

func (*stopping) Columns() []string { return []string{"none"} }

func (*stopping) WarmUp(int) error { return nil }

func (s *stopping) Exchange(rows []float64, peer int) ([]float64, error) {
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

// measureStopped measures all pairs, of which one rank is stopped.
func measureStopped(c mpi.Communicator, fails bool) error {
	_, err := harness.AllPairs(context.Background(), c, &stopping{comm: c, fails: fails}, &harness.Settings{Silence: time.Second})
	return err
}
