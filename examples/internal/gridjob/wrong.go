package gridjob

import (
	"errors"
	"fmt"
	"os"

	"github.com/topocast/topocast/mpi"
)

// A Wrong is a mistake of the user that all ranks find at the same point: nothing is broken and none waits for another, so that
// MPI ends in order.
type Wrong struct{ err error }

func (w *Wrong) Error() string { return w.err.Error() }

// Unwrap returns the cause.
func (w *Wrong) Unwrap() error { return w.err }

// Wrongf is fmt.Errorf of a Wrong.
func Wrongf(format string, arguments ...any) error {
	return &Wrong{fmt.Errorf(format, arguments...)}
}

// Exit prints an error and ends the program. What all ranks of a job have found one of them tells.
func Exit(err error) {
	if wrong := (*Wrong)(nil); mpi.Launched() <= 0 || !errors.As(err, &wrong) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}
