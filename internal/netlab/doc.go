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
// The wiring is a string of package internal/gen ("spec"), a file of package
// topology/encode ("graph"), or spelt out: "hosts" and "switches" are lists of
// names and "links" has an entry with "latency_s" and "rate_Bps" for each link.
// With the first two, "links" changes single links. Further fields:
//
//	name            of the lab; default: that of the file
//	cycles          true allows wirings that are no tree
//	routing         lowest, modulo or ecmp, as in internal/gen
//	ranks_per_host  default 1
//	mtu             bytes; default 9000
//	switching       cut-through (default) or store-and-forward
//	queues          {"nic": Q, "switch": Q, "back_pressure": true}, where Q is
//	                {"discipline": "fair" or "fifo", "depth": "shallow" or "deep",
//	                "bytes": 2097152, "ecn_bytes": 131072}
//	jitter          {"seed": 1, "mean_s": 1e-5, "outlier_probability": 0.001, "outlier_s": 0.001}
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
// All that the fabric makes lives in files that it holds open:
// namespaces, devices, bridges and queues. Whatever ends the fabric, the kernel removes
// them. What can be left are processes and a directory, which the next Up or Down removes.
// A process belongs to a lab by the network it is in, whatever its environment and its parents are.
// With Settings.Leash the fabric ends
// with the program that started it: it reads a pipe whose other end the kernel
// closes. Jobs always hang on such a pipe, through a supervisor that
// adopts and ends all that descends from them.
//
// Nothing is made outside of these namespaces. No setting of the machine changes, with one exception: its CPUs do not halt while a
// lab is up (keepAwake). A namespace may not choose cubic as its default everywhere, so the route asks for it.
// Any number of labs have the same names and addresses and never meet.
//
// Launchers talk to the hosts over a bridge and a second interface each, in a
// namespace called control. The measured network carries no traffic of theirs.
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
// Other networks can be had: {"nic": {"discipline": "fifo", "depth": "deep"},
// "back_pressure": false} brings out the asymmetric property of Zhu et al. 2014.
package netlab
