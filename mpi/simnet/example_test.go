package simnet_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Three ranks send 1 MB each to rank 0 at once. Its link takes 1 GB/s, so the last
// byte comes after 3 ms, and the latency of two links.
func ExampleSimulate() {
	cluster, err := simnet.ParseCluster("star:4 latency=5us rate=1GBps")
	if err != nil {
		log.Fatal(err)
	}
	settings := cluster.Settings()
	settings.NoHandshake = true // which would cost long messages two latencies more
	report, err := simnet.Simulate(cluster.Graph, nil, settings, func(c mpi.Communicator) error {
		const bytes = 1e6
		if c.Rank() > 0 {
			return c.Send(make([]byte, bytes), 0, 0)
		}
		requests := c.(mpi.NonBlocking).NewRequests()
		for src := 1; src < c.Size(); src++ {
			if err := requests.Irecv(make([]byte, bytes), src, 0); err != nil {
				return err
			}
		}
		return requests.WaitAll()
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d messages, %d bytes, %.2f ms\n", report.Messages, report.Bytes, 1e3*report.Seconds)
	// Output: 3 messages, 3000000 bytes, 3.01 ms
}

// Computation takes no virtual time by itself; Sleep stands for it.
func ExampleComm_Sleep() {
	cluster, err := simnet.ParseCluster("star:2")
	if err != nil {
		log.Fatal(err)
	}
	report, err := simnet.Simulate(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
		c.(*simnet.Comm).Sleep(0.5) // s: a step of the solver, say
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Seconds, "s")
	// Output: 0.5 s
}

// One slow cable: ten times the latency, and a tenth of the rate. Host 1 is behind
// it, host 2 is not.
func ExampleFaults() {
	cluster, err := simnet.ParseCluster("star:3 latency=5us")
	if err != nil {
		log.Fatal(err)
	}
	settings := cluster.Settings()
	cable := []int{cluster.Graph.ArcIndex(1, 3), cluster.Graph.ArcIndex(3, 1)} // 3 is the switch
	settings.Faults.Slow = []simnet.Slow{{Arcs: cable, Latency: 10, Rate: 0.1}}
	err = simnet.Run(cluster.Graph, nil, settings, func(c mpi.Communicator) error {
		if c.Rank() == 0 {
			if err := c.Send(nil, 1, 0); err != nil {
				return err
			}
			return c.Send(nil, 2, 0)
		}
		if err := c.Recv(nil, 0, 0); err != nil {
			return err
		}
		fmt.Printf("rank %d: %.0f us\n", c.Rank(), 1e6*c.(mpi.Clock).Now())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// rank 2: 10 us
	// rank 1: 55 us
}
