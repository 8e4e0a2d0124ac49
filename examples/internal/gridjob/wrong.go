package gridjob

import (
	"errors"
	"fmt"
	"os"

	"github.com/topocast/topocast/mpi"
)

// A wrong is a mistake of the user that all ranks find at the same point: nothing is broken and none waits for another, so that
// MPI ends in order.
type wrong struct{ err error }

func (w *wrong) Error() string { return w.err.Error() }

func (w *wrong) Unwrap() error { return w.err }

// Wrongf is fmt.Errorf of a mistake of the user that all ranks find at the same point: no rank waits for another.
func Wrongf(format string, arguments ...any) error {
	return &wrong{fmt.Errorf(format, arguments...)}
}

// Exit prints an error and ends the program. What all ranks of a job have found one of them tells.
func Exit(err error) {
	if found := (*wrong)(nil); mpi.Launched() <= 0 || !errors.As(err, &found) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}
