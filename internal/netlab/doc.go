// Package netlab emulates a cluster on one machine. Each host is a network namespace with a name. A process, the fabric,
// carries Ethernet frames between the hosts through switches. Wiring, rates, delays and queues are given.
// Unmodified Open MPI and MPICH run on the hosts over the kernel's own TCP. So
// contention, slow uplinks and hierarchies can be tested where the truth is
// known. An emulated cluster that runs is called a lab. Most callers need the command cmd/netlab, or
//
//	c, err := netlab.ReadCluster("cluster.json")
//	l, err := netlab.Up(c, &netlab.Settings{})
//	defer l.Down()
//	err = l.Run(ctx, &netlab.Job{MPI: netlab.MPICH, Place: place, Program: program}, os.Stdout, os.Stderr)
//	counters, err := l.Counters()
//
// A cluster file says what the network is:
//
//	{
//	  "format": "topocast/netlab", "version": 1,
//	  "spec": "tree:2x4 latency=200us,50us rate=100Mbps,200Mbps",
//	  "links": [{"from": "h3", "to": "s1", "rate_Bps": 5e6}],
//	  "ranks_per_host": 1
//	}
//
// The wiring is a string of package internal/gen ("spec"), or a graph of package
// topology/encode or the name of its file ("graph"). "links" changes single links.
// Further fields:
//
//	name            of the lab; default: that of the file
//	routing         lowest, modulo or ecmp, as in internal/gen
//	ranks_per_host  default 1
//	mtu             bytes; default 9000
//	queues          {"nic": Q, "switch": Q, "back_pressure": true}, where Q is
//	                {"discipline": "fair" or "fifo", "bytes": 2097152, "ecn_bytes": 131072}
//
// # Fabric
//
// The fabric is an engine in virtual time (engine.go), which tests drive
// without a clock. A loop ties it to the clock and to TAP devices
// (loop_linux.go). An event that is handled late does not shift the ones after
// it: lateness does not add up along a path.
//
// The loop runs on the last CPU, with real-time priority, and sleeps through
// gaps of more than 60 us. All threads of its program keep to that CPU. Ranks get the others. Go's
// scheduler disturbs the loop every 10 ms for some us, see fabricPriority. The garbage
// collector is off in it, and frames come from a pool.
//
// A busy machine, or a virtual one, does not always run the fabric when a frame is due. The loop counts for how
// long: Loop.Stalled. Measurements show the network only if that was 2 % of the time at most (Loop.OnTime).
// Verify and the tests repeat others, and say so if none is on time. Two fabrics at
// once share the last CPU and stall each other: run one lab at a time where times matter.
//
// # What ends it
//
// The fabric is the first process of a namespace of processes, and all processes of the lab belong to that namespace. Its
// threads keep the namespaces of the hosts, and its open files the devices. Whatever ends the fabric, the kernel ends the
// processes and removes the devices. What can be left is a directory, which the next Up or Down removes.
// With Settings.Leash the fabric ends with the program that started it: it reads a pipe whose other end the kernel
// closes. A job is such a namespace within that of the lab, whose first process reads such a pipe.
//
// Nothing is made outside of these namespaces. No setting of the machine changes, with one exception: its CPUs do not halt while a
// lab is up (keepAwake). A namespace may not choose cubic as its default everywhere, so the route asks for it.
// Any number of labs have the same names and addresses and never meet.
//
// Launchers talk to the hosts over a bridge and a second interface each, on a
// machine called control. The measured network carries no traffic of theirs.
//
// # Ranks that wait
//
// A dozen ranks share a core, and MPI libraries wait by looking for messages over
// and over. A rank that has a message then waits for its turn among those that have none, for most of the
// time of a broadcast. So a library is loaded into the ranks (preload/wait.c). The third look in a row in vain
// lasts until a message comes. Both MPI libraries and the order in which they do things remain
// as they are otherwise. On an idle core a rank wakes up within some us. These choices have reasons:
//
//   - A look is not in vain if a request turns out to be complete. MPICH's MPI_Test looks for messages before it looks at
//     its request. A rank that took what had come before, one after the other, would sleep 1 ms for each.
//   - Sleeping in the first look costs Open MPI 1 ms a message: it looks once in vain after each.
//   - Ranks on one host talk through sockets, too, as no socket tells of a message in shared memory. MPICH
//     takes them for ranks of different hosts (MPIR_CVAR_NOLOCAL). Its collectives have no step inside hosts then.
//   - Each host has a boot id of its own. Programs that look at it would take all ranks for one machine's, and yield.
//   - Yielding instead of sleeping takes 6.6 ms instead of 1.8 for 8 B broadcast by MPICH over 12 hosts.
//
// A message of MPI costs its ends as much as one of plain TCP, 25 to 40 us: BenchmarkPingPong in labtest compares.
//
// # Queues
//
// Queues are fair and shallow with ECN marks by default, and a token bucket in
// each host's kernel holds back what its link cannot take. The network then
// divides bandwidth max-min fairly, in both directions, as models have it. One
// departure remains: that bucket is FIFO, as the kernels at hand have no fair one.
// So acknowledgements wait behind what their host sends to several others. A
// stream into a host that sends two gets 0.4 to 0.9 of what is free.
// Other networks can be had: {"nic": {"discipline": "fifo", "bytes": 16777216, "ecn_bytes": 0},
// "back_pressure": false} brings out the asymmetric property of Zhu et al. 2014.
package netlab
