// Package simnet runs the ranks of a job on a simulated cluster, in virtual
// time: thousands of them in one process, with the same code that runs on real
// MPI. It tells what a program would do on a machine that one does not have.
//
//	cluster, err := simnet.ParseCluster("tree:8x16x8 rate=100Gbps")
//	...
//	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error { ... })
//
// A message is a flow over the links of its route. It begins when the sender
// has spent its overhead (above the eager limit: when request and consent have
// crossed too), takes of its links once the latency of the route has passed,
// and moves at the rate that contention.Solver gives it among all others; the
// receiver then spends its own overhead. This is the flow model of SimGrid
// (Casanova, Giersch, Legrand, Quinson, Suter 2014), with the overheads of
// PLogP (Kielmann, Bal, Verstoep 2000).
//
// The same program gives the same times on every run, whatever GOMAXPROCS.
// Time passes in messages, Sleep and reading the clock only: computation
// between them takes none.
//
// # Design
//
// Ranks are coroutines (iter.Pull) that one scheduler resumes: a switch costs
// 0.1 us, where two channel operations take 0.4 us, and exactly one goroutine
// runs at any time, so ranks race for nothing. The price is that ranks use one
// CPU, and that a rank which blocks on anything but a message blocks all.
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
