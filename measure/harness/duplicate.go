package harness

import (
	"fmt"
	"io"

	"github.com/topocast/topocast/mpi"
)

// OnDuplicate calls work with a duplicate of comm, so that its messages never
// match those of the caller. If comm cannot be duplicated, work gets comm itself.
// The duplicate is closed whatever work returns. It is collective.
func OnDuplicate(comm mpi.Communicator, work func(mpi.Communicator) error) error {
	s, ok := comm.(mpi.Splitter)
	if !ok {
		return work(comm)
	}
	own, err := s.Split(0, comm.Rank())
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	err = work(own)
	if c, ok := own.(io.Closer); ok {
		if closing := c.Close(); closing != nil && err == nil {
			err = fmt.Errorf("harness: closing the duplicate: %w", closing)
		}
	}
	return err
}
