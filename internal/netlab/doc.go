// Package netlab makes a cluster of real hosts on one machine: each host is a
// network namespace with a name, and a process, the fabric, carries Ethernet
// frames between them through switches whose wiring, rates, delays and queues
// are given. Unmodified Open MPI and MPICH run on it over the kernel's own TCP.
// Contention, slow uplinks and hierarchies can so be tested where the truth is
// known. Most callers need the command cmd/netlab, or
//
//	c, err := netlab.ReadCluster("cluster.json")
//	l, err := netlab.Up(c, nil)
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
// without a clock, and a loop that ties it to the clock and to TAP devices
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
// the machine is changed: cubic, which a namespace may not choose as its
// default everywhere, is asked for by the route. So any number of labs have the
// same names and addresses and never meet.
//
// Launchers talk to the hosts over a bridge and a second interface each, in a
// namespace called control. The measured network carries no traffic of theirs.
//
// The loop runs on the last CPU, with real-time priority, and sleeps through
// gaps of more than 60 us; ranks get the other CPUs. It is written in Go: the
// scheduler disturbs it every 10 ms for some us, see loopPriority. The garbage
// collector is off in it, and frames come from a pool.
//
// Queues are fair and shallow with ECN marks by default, and a token bucket in
// each host's kernel holds back what its link cannot take: the network then
// divides bandwidth max-min fairly, in both directions, as models have it. One
// departure remains: that bucket is FIFO (the kernels at hand have no fair one),
// so acknowledgements wait behind what their host sends to several others, and a
// stream into a host that sends two gets 0.4 to 0.9 of what is free.
// Other networks can be had: {"nic": {"discipline": "fifo", "depth": "deep"},
// "back_pressure": false} brings out the asymmetric property of Zhu et al. 2014.
package netlab
