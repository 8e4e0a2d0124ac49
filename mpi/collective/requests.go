package collective

import "github.com/topocast/topocast/mpi"

// Isend starts to send values to rank dst in a set of requests of the communicator, as Requests.Isend does with bytes. The
// values must not be changed before WaitAll of the set.
func Isend[T comparable](c *Comm, set mpi.Requests, values []T, dst, tag int) error {
	err := checkType[T](c)
	if err == nil {
		err = set.Isend(bytesOf(values), dst, tag)
	}
	return failed("Isend", err)
}

// Irecv starts to receive len(values) values from rank src, as Requests.Irecv does with bytes. The values must not be touched
// before WaitAll of the set.
func Irecv[T comparable](c *Comm, set mpi.Requests, values []T, src, tag int) error {
	err := checkType[T](c)
	if err == nil {
		err = set.Irecv(bytesOf(values), src, tag)
	}
	return failed("Irecv", err)
}
