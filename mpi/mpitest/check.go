package mpitest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// A failure is the panic by which a case ends on a rank on which the contract is broken.
type failure struct{ err error }

// check ends the case if there is an error. A format and its values may say what the error is about.
func check(err error, about ...any) {
	if err == nil {
		return
	}
	if len(about) > 0 {
		err = fmt.Errorf("%s: %w", fmt.Sprintf(about[0].(string), about[1:]...), err)
	}
	panic(failure{err})
}

// fail ends the case.
func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// got is a result that comes without an error. With one, the case ends.
func got[T any](result T, err error) T {
	check(err)
	return result
}

// during says of a failure what it is about. It is deferred.
func during(format string, args ...any) {
	x := recover()
	if f, ok := x.(failure); ok {
		check(f.err, append([]any{format}, args...)...)
	}
	if x != nil {
		panic(x)
	}
}

// errorOf runs a case, and returns its failure.
func errorOf(run func(mpi.Communicator), c mpi.Communicator) (err error) {
	defer func() {
		x := recover()
		f, ok := x.(failure)
		if err = f.err; !ok && x != nil {
			panic(x)
		}
	}()
	run(c)
	return nil
}
