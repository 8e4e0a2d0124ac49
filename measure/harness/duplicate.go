package harness

import (
	"fmt"
	"io"

	"github.com/topocast/topocast/mpi"
)

// OnDuplicate calls work with a duplicate of comm, so that its messages never
// match those of the caller, and returns what work returns. After an error that is the zero value.
// If comm cannot be duplicated, work gets comm itself.
// The duplicate is closed whatever work returns. It is collective.
func OnDuplicate[T any](comm mpi.Communicator, work func(mpi.Communicator) (T, error)) (result T, err error) {
	own := comm
	if s, ok := comm.(mpi.Splitter); ok {
		if own, err = s.Split(0, comm.Rank()); err != nil {
			return result, fmt.Errorf("harness: %w", err)
		}
		if c, ok := own.(io.Closer); ok {
			defer func() {
				if closing := c.Close(); closing != nil && err == nil {
					err = fmt.Errorf("harness: closing the duplicate: %w", closing)
				}
			}()
		}
	}
	if result, err = work(own); err != nil {
		var none T
		return none, err
	}
	return result, nil
}
