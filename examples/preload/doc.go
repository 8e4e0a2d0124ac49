// Command preload is a library that brings our broadcasts to programs that know nothing of
// us, in C, C++, Fortran or Python: preloaded, its MPI_Bcast takes the place of the MPI library's.
//
//	make preload                                                # libtopocast.openmpi.so, libtopocast.mpich.so, and a file beside each
//	mpirun -n 64 topocast discover -o cluster.json              # once per cluster
//	mpirun -n 64 topocast tune cluster.json                     # once per kind of job, or not at all
//	mpirun -n 64 -x LD_PRELOAD=$PWD/libtopocast.openmpi.so -x TOPOCAST_NETWORK=cluster.json ./program
//	mpirun -n 64 -genv LD_PRELOAD $PWD/libtopocast.mpich.so -genv TOPOCAST_NETWORK cluster.json ./program
//
// # What it does
//
// A communicator whose ranks run on hosts of the network gets a Broadcaster (package bcast). What is tuned for
// its ranks in the network's file is used as soon as the communicator has broadcast some 64 KiB: to make a
// Broadcaster takes as long as some broadcasts. Other sizes are left to MPI at first: when its own
// broadcasts of a class of sizes have taken 2.5 s and were a thousand, ours are compared with them, and used
// where they win. So a program loses at most about a tenth of its time in broadcasts.
//
// At MPI_Finalize rank 0 of MPI_COMM_WORLD writes a line to standard error: its broadcasts, their
// bytes and time, and the gain as the comparison saw it.
//
//	TOPOCAST_NETWORK=FILE  the network; what rank 0 of a communicator finds there counts
//	TOPOCAST_REPORT=FILE   the report as JSON, by classes of sizes, too; set to nothing: no report
//	TOPOCAST_CHOICE=model  use what the network predicts to be best, untimed
//	TOPOCAST_PATIENCE=S    how long MPI's own broadcasts of a class of sizes take before ours are compared with
//	                       them; default 2.5 s; 0: at the first, and what is tuned or predicted is used at the first, too
//
// # What it leaves to MPI
//
// All broadcasts of intercommunicators, of communicators with ranks of other jobs (MPI_Comm_spawn) or on
// hosts that the network does not know, and of programs whose threads call MPI at once
// (MPI_THREAD_MULTIPLE); wrong arguments, so that MPI's error handlers answer; MPI_Ibcast, MPI_Bcast_init,
// MPI_Bcast_c and PMPI_Bcast, by which the parallel I/O of the libraries broadcasts; communicators beyond
// the 64th at a time. All ranks of a job have to be started with the library.
//
// Buffers in the memory of a GPU are not looked after: programs that broadcast from there go without this library.
//
// # Design
//
// All ranks have to go the same way, so only what they all know decides: the communicator, the
// root, the number of bytes, and how many broadcasts there were. Types and counts may differ
// between ranks; where one's elements have gaps they are packed there. What else matters, such as
// whether the network can be read, ranks tell each other by one MPI_Allreduce on the program's
// communicator, inside a broadcast: at its first one of more than a kilobyte, and when
// there is time to compare.
//
// Messages of ours have a communicator of their own, as those of the program may be received from any
// source with any tag. It is freed with the program's, by the delete callback of an attribute. The same of
// MPI_COMM_SELF tells when MPI_Finalize begins, by whatever name it was called. Programs may broadcast
// even then, in callbacks of their own, and in another order on each rank: so only the counting ends there.
//
// What is decided stands in a table of C (hook), by class of sizes and root: what is the library's never
// enters Go. Open MPI's Fortran calls PMPI_Bcast, so its entries are ours one by one; that of MPICH calls MPI_Bcast.
//
// Launchers, shells and all their children are preloaded, too. So the file that is preloaded needs neither MPI nor Go:
// it looks up the MPI library in the process at the first broadcast, and opens the part in Go, a file beside it,
// when the ranks may have use for it: on rank 0 to read the network, on others to make a Broadcaster.
//
// Go is to leave no trace in a program (hook/go.c). Its threads begin with all signals blocked, so that none is taken
// from threads that wait for it; handlers and the limit of open files are set back to what they were, and Go may
// use one core at a time. While a thread of the program is in Go its signals wait, for goroutines have
// too little stack for handlers; they are taken where MPI waits for messages. Two things remain: Go's threads do
// not block SIGCHLD and SIGPROF, so programs cannot wait for these two by sigwait or signalfd; and
// a handler must not leave a broadcast by longjmp.
//
// Our messages are sent by PMPI_Send and its like: profilers count the program's calls only.
package main
