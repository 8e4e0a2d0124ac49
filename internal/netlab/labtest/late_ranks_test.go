//go:build linux

package labtest

import (
	"fmt"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A late is how long rank 0 takes, in s, for so many messages that have come before it asks for the first.
type late struct {
	Messages int     `json:"messages"`
	Seconds  float64 `json:"seconds"`
}

// measureLate is collective, over two ranks: rank 1 sends short messages, which rank 0 does not look for until all have come.
func measureLate(comm mpi.Communicator) (*late, error) {
	const (
		tag   = 9
		bytes = 1000
	)
	nonBlocking, can := comm.(mpi.NonBlocking)
	if !can {
		return nil, fmt.Errorf("labtest: %T: want receives that do not block", comm)
	}
	set := nonBlocking.NewRequests()
	result := &late{Messages: 50}
	buf := make([]byte, bytes)
	for _, count := range []int{1, result.Messages} { // the first makes the connection
		if comm.Rank() == 1 {
			for range count {
				if err := comm.Send(buf, 0, tag); err != nil {
					return nil, err
				}
			}
			if err := comm.Recv(buf[:1], 0, tag); err != nil {
				return nil, err
			}
			continue
		}
		time.Sleep(100 * time.Millisecond)
		begin := time.Now()
		for range count {
			if err := set.Irecv(buf, 1, tag); err != nil {
				return nil, err
			}
			for done := false; !done; {
				var err error
				if done, err = set.Test(); err != nil {
					return nil, err
				}
			}
		}
		result.Seconds = time.Since(begin).Seconds()
		if err := comm.Send(buf[:1], 1, tag); err != nil {
			return nil, err
		}
	}
	return result, nil
}
