package local_test

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// Four ranks add up their numbers along a chain. In mode Rendezvous the code is
// also shown not to depend on buffering.
func ExampleRun() {
	err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
		buf := make([]byte, 8)
		sum := uint64(0)
		if c.Rank() > 0 {
			if err := c.Recv(buf, c.Rank()-1, 0); err != nil {
				return err
			}
			sum = binary.LittleEndian.Uint64(buf)
		}
		sum += uint64(c.Rank())
		if c.Rank() == c.Size()-1 {
			fmt.Println(sum)
			return nil
		}
		binary.LittleEndian.PutUint64(buf, sum)
		return c.Send(buf, c.Rank()+1, 0)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 6
}

// Both ranks send before they receive, which real MPI lets pass for short
// messages only. Rendezvous shows it, by an error instead of a program that hangs.
func ExampleRun_deadlock() {
	err := local.Run(2, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
		buf, other := make([]byte, 8), 1-c.Rank()
		if err := c.Send(buf, other, 0); err != nil {
			return err
		}
		return c.Recv(buf, other, 0)
	})
	fmt.Println("deadlock:", errors.Is(err, local.ErrDeadlock))
	// Output: deadlock: true
}
