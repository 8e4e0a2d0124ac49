// Package netlab makes a cluster of real hosts on one machine: each host is a
// network namespace with a name, and a process, the fabric, carries Ethernet
// frames between them through switches whose wiring, rates, delays and queues
// are given. Unmodified Open MPI and MPICH run on it over the kernel's own TCP.
// Contention, slow uplinks and hierarchies can so be tested where the truth is
// known. Most callers need the command cmd/netlab, or
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
// # Design
//
// The fabric is an engine in virtual time (engine.go), which tests drive
// without a clock. A loop ties it to the clock and to TAP devices
// (loop_linux.go). An event that is handled late does not shift the ones after
// it: lateness is not added up along a path.
//
// Everything that the fabric makes lives in files that it holds open:
// namespaces, devices, bridges and queues. Whatever ends it, the kernel removes
// them; what can be left are processes and a directory, and the next Up or Down
// sees to those. A process belongs to a lab by the network it is in, whatever it
// has made of its environment and parents. With Settings.Leash the fabric ends
// with the program that started it: it reads a pipe whose other end the kernel
// closes. Jobs hang on such a pipe in any case, through a supervisor which
// adopts and ends all that descends from them. Nothing is made outside of those namespaces and no setting of
// the machine is changed, but that its CPUs do not halt while a lab is up (keepAwake): cubic, which a namespace may not choose as its
// default everywhere, is asked for by the route. So any number of labs have the
// same names and addresses and never meet.
//
// Launchers talk to the hosts over a bridge and a second interface each, in a
// namespace called control. The measured network carries no traffic of theirs.
//
// The loop runs on the last CPU, with real-time priority, and sleeps through
// gaps of more than 60 us. All threads of its program keep to that CPU; ranks get the others. It is written in Go: the
// scheduler disturbs it every 10 ms for some us, see fabricPriority. The garbage
// collector is off in it, and frames come from a pool.
//
// A machine that has other things to do, or whose own CPUs are another machine's, does not
// always run the fabric when a frame is due. The loop counts for how long: Loop.Stalled. What is measured
// meanwhile tells of the network only if that was 2 % of the time at most (Loop.OnTime); Verify and the
// tests of labs take other readings again, and say so if there is none on time. Two fabrics at
// once share the last CPU and stall each other: run one lab at a time where times matter.
//
// A dozen ranks share a core, and MPI libraries wait by looking for messages over
// and over. What a broadcast then takes is mostly the time until the rank that has
// a message gets its turn among those that have none. So a library is loaded into
// the ranks (preload/wait.c) that makes the third look in a row in vain last until
// a message comes. A look is not in vain if a request turns out to be complete: MPICH's MPI_Test
// looks for messages before it looks at its request, and a rank that took one after the other of what had come before
// slept 1 ms for each. Both MPI libraries remain as they are otherwise, and so does the
// order in which they do things. On an otherwise idle core a rank wakes up within
// some us. Each host has a boot id of its own, so that programs which look at it do not
// take the ranks for one machine's, and yield. The endpoint cost of MPI's ping-pong is that of plain TCP, 25 to 40 us,
// and its median that of its least time: BenchmarkPingPong in labtest compares.
// That was chosen by measurement, with the machine under load. Yielding makes MPICH's medians of 8 B 1.3 times
// the least, of 64 KiB 1.4 times, and takes 6.6 ms instead of 1.8 for 8 B broadcast over 12 hosts.
// Sleeping in the first look in vain costs Open MPI 1 ms a message, as it looks once in vain after
// each. Sleeping in every look for a fixed time was tried, too. No socket tells of a message in shared memory. So ranks that share a host talk through sockets, too. MPICH
// takes them for ranks of different hosts (MPIR_CVAR_NOLOCAL), and its collectives have no step inside hosts. Yielding does not
// do for them: sixteen ranks that take turns on a core, each of which costs 9 us, need 140 us for a round.
//
// Queues are fair and shallow with ECN marks by default, and a token bucket in
// each host's kernel holds back what its link cannot take: the network then
// divides bandwidth max-min fairly, in both directions, as models have it. One
// departure remains: that bucket is FIFO, as the kernels at hand have no fair one.
// So acknowledgements wait behind what their host sends to several others. A
// stream into a host that sends two gets 0.4 to 0.9 of what is free.
// Other networks can be had: {"nic": {"discipline": "fifo", "depth": "deep"},
// "back_pressure": false} brings out the asymmetric property of Zhu et al. 2014.
package netlab
