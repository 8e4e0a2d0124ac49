// Package simnet runs the ranks of a job on a simulated cluster, in virtual
// time: thousands of them in one process, with the same code that runs on real
// MPI. It tells what a program would do on a machine that one does not have.
//
//	cluster, err := simnet.ParseCluster("tree:8x16x8 rate=100Gbps")
//	...
//	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error { ... })
//
// The cluster is a line of text, or any topology.Graph whose links have latency
// and bandwidth, such as that of a measured network. Simulate is Run with a
// Report of what was moved.
//
// # Method
//
// A message is a flow over the links of its route, as in SimGrid (Casanova,
// Giersch, Legrand, Quinson, Suter 2014). Before and after it are the overheads of PLogP
// (Kielmann, Bal, Verstoep 2000):
//
//  1. The sender spends its overhead, os. The message leaves; above the eager
//     limit only when request and consent have crossed.
//  2. Once the latency of the route has passed, it takes of its links.
//  3. Among all flows it moves at the rate that contention.Solver gives it, by
//     max-min fairness or another Sharing. Rates are solved anew when a flow
//     begins or ends.
//  4. When the last byte is there, the receiver spends its overhead, or.
//
// Settings.Faults say what is slow, and when: links and switches, cards and cables, software, for some time, more and
// more, or now and then. A message has the latency of the moment at which it leaves, and at each moment the rate that
// its links then have.
//
// Time passes in messages, Sleep and reading the clock only. The same program
// gives the same times on every run, whatever GOMAXPROCS.
//
// # Limits
//
// Computation takes no time by itself: Comm.Sleep stands for it. Ranks may talk
// by messages alone; one that waits for another on a channel or a lock stops the
// simulation for good. All ranks run on one CPU. There are no packets: no loss, no
// queues of switches, and congestion control only as Settings.Window and Bias
// have it. The communicator has no broadcast of the library's own.
//
// # Design
//
// Ranks are coroutines (iter.Pull) that one scheduler resumes: a switch costs
// a fraction of what channels cost, and exactly one goroutine runs at any time, so
// ranks race for nothing.
//
// Every receive names its sender, so which messages meet follows from the order
// of calls on each rank alone, never from time. The simulator uses that
// twice: buffers are copied when calls meet, and a rank runs on ahead of the
// common time (its clock adding up overheads) until it needs something that
// only time can bring. All that it starts lies at or after its own time, and
// events are handled in order of time, then kind, rank and sequence.
//
// Time is counted in whole picoseconds. Sums of latencies are then exact, and
// things that happen together by arithmetic do so in fact: rates are solved once
// for all of them.
//
// Messages of one rank to another follow each other, as over one connection;
// otherwise a rank that sends many segments at once would have them all arrive at
// the end, each with a share of the link. Settings.FlowPerMessage has it SimGrid's way.
package simnet
