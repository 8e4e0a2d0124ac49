package harness

import (
	"encoding/json"
	"fmt"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// Tags of the messages of this package. Measurements that
// send messages of their own take tags from FirstTag on.
const (
	tagBarrier = iota
	tagData
	FirstTag = 16
)

// Gather returns on rank 0 what each rank has, which travels as JSON straight to rank 0; nil elsewhere. It is collective.
func Gather[T any](comm mpi.Communicator, own T) ([]T, error) {
	data, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	var all []T
	if comm.Rank() == 0 {
		all = make([]T, comm.Size())
	}
	err = share.Star(comm, 0, tagData).Gather(data, func(rank int, data []byte) error { return json.Unmarshal(data, &all[rank]) })
	return all, err
}

// Agree makes an error of rank 0 one of all ranks. Where there is a conductor, the ranks wait under its watch; it may be nil. It is
// collective.
func Agree(comm mpi.Communicator, c *Conductor, err error) (refused error) {
	failed := c.Await(func() (failed error) {
		refused, failed = share.Binomial(comm, 0, tagData).Agree(err)
		return failed
	})
	if refused == nil && failed != nil {
		return fmt.Errorf("harness: %w", failed)
	}
	return refused
}

// Share returns on all ranks what rank 0 makes, which travels as JSON. An error of rank 0 is one of all
// ranks. Where there is a conductor, the ranks wait under its watch; it may be nil. It is collective.
func Share[T any](comm mpi.Communicator, c *Conductor, make func() (T, error)) (value T, refused error) {
	if comm.Rank() == 0 {
		value, refused = make()
	}
	failed := c.Await(func() (err error) {
		refused, err = share.Binomial(comm, 0, tagData).TellValue(&value, refused)
		return err
	})
	if failed != nil {
		return value, fmt.Errorf("harness: sharing the plan of rank 0: rank %d: %w", comm.Rank(), failed)
	}
	if refused != nil {
		var none T
		value = none
	}
	return value, refused
}
