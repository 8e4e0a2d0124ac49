package mpitest_test

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/mpitest"
)

// metered is a communicator of one's own: one that counts the bytes it sends.
type metered struct {
	mpi.Communicator
	mpi.Splitter // by which Check gets duplicates that it may break
	sent         int
}

func (m *metered) Send(buf []byte, dst, tag int) error {
	m.sent += len(buf)
	return m.Communicator.Send(buf, dst, tag)
}

// Every communicator can be held to the contract, under MPI by mpi.Run.
func ExampleCheck() {
	err := local.Run(2, nil, func(comm mpi.Communicator) error {
		return mpitest.Check(&metered{Communicator: comm, Splitter: comm.(mpi.Splitter)})
	})
	fmt.Println("broken contract:", err)
	// Output: broken contract: <nil>
}
