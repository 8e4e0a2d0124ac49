package mpi_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// Each rank sends its number to the next one, round a ring. Even ranks send first:
// a Send may block until it is received. Under MPI, main calls mpi.Run(work); here
// the ranks are goroutines.
func Example() {
	work := func(comm mpi.Communicator) error {
		rank, size := comm.Rank(), comm.Size()
		next, last := (rank+1)%size, (rank+size-1)%size
		out := binary.LittleEndian.AppendUint64(nil, uint64(rank))
		in := make([]byte, len(out))
		send := func() error { return comm.Send(out, next, 0) }
		receive := func() error { return comm.Recv(in, last, 0) }
		steps := []func() error{send, receive}
		if rank%2 == 1 {
			steps = []func() error{receive, send}
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		if rank == 0 {
			fmt.Println("rank 0 got", binary.LittleEndian.Uint64(in))
		}
		return nil
	}
	if err := local.Run(4, nil, work); err != nil {
		log.Fatal(err)
	}
	// Output: rank 0 got 3
}

// The same ring where a communicator can have transfers under way: nobody has to
// go first.
func ExampleNonBlocking() {
	work := func(comm mpi.Communicator) error {
		able, ok := comm.(mpi.NonBlocking)
		if !ok {
			return errors.New("this communicator only blocks")
		}
		rank, size := comm.Rank(), comm.Size()
		out, in := []byte{byte(rank)}, make([]byte, 1)
		requests := able.NewRequests() // to be used again and again
		if err := requests.Irecv(in, (rank+size-1)%size, 0); err != nil {
			return err
		}
		if err := requests.Isend(out, (rank+1)%size, 0); err != nil {
			return err
		}
		if err := requests.WaitAll(); err != nil {
			return err
		}
		if rank == 0 {
			fmt.Println("rank 0 got", in[0])
		}
		return nil
	}
	if err := local.Run(3, nil, work); err != nil {
		log.Fatal(err)
	}
	// Output: rank 0 got 2
}

// What went wrong, for a program to decide by, and where, for its user.
func ExampleError() {
	err := local.Run(2, nil, func(comm mpi.Communicator) error {
		if comm.Rank() == 0 {
			return comm.Send(make([]byte, 100), 1, 7)
		}
		return comm.Recv(make([]byte, 10), 0, 7)
	})
	var failed *mpi.Error
	if errors.As(err, &failed) {
		fmt.Printf("%s from rank %d to rank %d\n", failed.Op, failed.Peer, failed.Rank)
	}
	fmt.Println("too long:", errors.Is(err, mpi.ErrTruncated))
	// Output:
	// Recv from rank 0 to rank 1
	// too long: true
}

// Where the ranks run: on a simulated machine of two hosts of four cores each.
func ExamplePlaces() {
	cluster, err := simnet.ParseCluster("host:2 core:4")
	if err != nil {
		log.Fatal(err)
	}
	cores := []int{0, 1, 3, 4} // of the ranks, counted over all hosts
	err = simnet.Run(cluster.Graph, cores, cluster.Settings(), func(comm mpi.Communicator) error {
		places, err := mpi.Places(comm) // collective
		if err != nil {
			return err
		}
		if comm.Rank() == 0 {
			for rank, p := range places {
				fmt.Printf("rank %d: core %d of %s\n", rank, p.Core, p.Host)
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// rank 0: core 0 of n0
	// rank 1: core 1 of n0
	// rank 2: core 3 of n0
	// rank 3: core 0 of n1
}

// Two ranks that are bound to one core share it, whatever else the host has. Two
// that may use the same two CPUs need not.
func ExampleOversubscribedHosts() {
	places := []mpi.Place{
		{Host: "n0", Core: 5},
		{Host: "n0", Core: 5},
		{Host: "n1", Core: -1, CPUs: []int{0, 1}},
		{Host: "n1", Core: -1, CPUs: []int{0, 1}},
	}
	fmt.Println(mpi.OversubscribedHosts(places))
	// Output: [n0]
}
