// Command preload is a library that brings our broadcasts and reductions to programs that know nothing of them, in C, C++,
// Fortran or Python. When it is preloaded, its MPI_Bcast, MPI_Allreduce and MPI_Reduce take the place of the MPI library's
// (native).
//
//	make preload                                                # libtopocast.so, and libtopocast.go.so beside it
//	mpirun -n 64 topocast discover -o cluster.json              # once per cluster
//	mpirun -n 64 topocast bcast tune cluster.json --in-place                 # once per kind of job, or not at all
//	mpirun -n 64 -x LD_PRELOAD=$PWD/libtopocast.so -x TOPOCAST_NETWORK=cluster.json ./program         # Open MPI
//	mpirun -n 64 -genv LD_PRELOAD $PWD/libtopocast.so -genv TOPOCAST_NETWORK cluster.json ./program   # MPICH
//
// One build serves Open MPI 4 to 6, MPICH 3.4 to 5 and its kin, and the standard ABI of MPI 5, on Linux with
// glibc 2.31 or later. It is built without any MPI.
//
// # What it does
//
// A communicator whose ranks run on hosts of the network gets a Broadcaster (package bcast) for MPI_Bcast. It gets a Reducer
// (package reduce) for each of the other two. Making one takes as long as some broadcasts. So choices that are tuned in the
// network's file for these ranks apply once the communicator has broadcast, or reduced, some 64 KiB. Other sizes begin with
// native calls. When those of a class of sizes have taken 2.5 s and were a thousand, they are compared with ours, and ours are
// used where they win. So a program loses at most about a tenth of its time in such calls.
//
// At MPI_Finalize rank 0 of MPI_COMM_WORLD writes a line to standard error: its broadcasts and reductions, their
// bytes and time, and the gain that the comparison has measured.
//
//	TOPOCAST_NETWORK=FILE  the network; the file of rank 0 of a communicator applies
//	TOPOCAST_REPORT=FILE   the report as JSON, by classes of sizes, too; empty: no report
//	TOPOCAST_REDUCE=off    leave reductions to MPI, so that sums are as without this library to the last bit
//	TOPOCAST_CHOICE=model  use what the network predicts to be best, and time nothing
//	TOPOCAST_PATIENCE=S    how long native calls of a class of sizes take before ours are compared with
//	                       them; default 2.5 s; 0: compare, or use what is tuned or predicted, from the first on
//
// # Reductions
//
// MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX are served for predefined integers of 1 to 8 bytes, float and double. The types may have
// names of C or of Fortran. MPI_IN_PLACE is served, too. Decisions are made by the bytes, whatever the type and the operation.
//
// Sums and products of floating-point numbers may differ from the library's in the last bits, as MPI permits: they are
// added in another order. They may also differ from those of earlier calls, before a comparison. All ranks get the same bits
// from MPI_Allreduce. A NaN always reaches the result of MPI_MIN and MPI_MAX, which libraries do not promise.
//
// # What stays native
//
//   - Calls on intercommunicators, and on communicators with ranks of other jobs (MPI_Comm_spawn) or on hosts that
//     the network does not know.
//   - Reductions by operations of the program, by logical and bitwise ones, MPI_MINLOC and MPI_MAXLOC; those of derived types, of
//     complex numbers, long double and other lengths of floating-point numbers, MPI_BYTE, MPI_AINT, MPI_COUNT and MPI_OFFSET.
//   - Programs whose threads call MPI at once (MPI_THREAD_MULTIPLE).
//   - Wrong arguments, so that MPI's error handlers answer.
//   - MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c, and PMPI_Bcast, by which the parallel I/O of the libraries broadcasts. The same
//     holds for reductions.
//   - Calls beyond the 64th Broadcaster or Reducer at a time.
//   - All of a program whose MPI library has another ABI than those above. A line says so.
//
// All ranks of a job have to be started with the library. It does not look after buffers in the memory of a GPU:
// programs that broadcast or reduce there have to run without it.
//
// # Design
//
// All ranks have to choose alike, so only what all of them know decides: the function, the communicator, the root, the number of
// bytes, and how many such calls there were. Types and counts of broadcasts may differ between ranks. Where the elements of a rank
// have gaps they are packed on that rank. Types of reductions have one meaning on all ranks, such as 8-byte integers,
// by whatever names, and MPI_IN_PLACE only decides what is copied. Ranks agree on everything else by one MPI_Allreduce on the
// program's communicator, inside a call: whether the network can be read, for example. They do so at the
// first call of more than a kilobyte, and when there is time to compare.
//
// Our messages have a communicator of their own, since the program's messages may be received from any source
// with any tag. It is freed with the program's communicator, by the delete callback of an attribute. An attribute of
// MPI_COMM_SELF tells when MPI_Finalize begins, by whatever name it was called. Programs may call
// even then, in callbacks of their own, and in another order on each rank. So only the counting ends there.
//
// Decisions stand in a table in C (hook), by function, class of sizes and root. Native calls never enter Go.
//
// Launchers, shells and all their children are preloaded, too. So the file that is preloaded needs neither MPI nor Go.
// At the first call it looks MPI up in the process, and chooses a table of constants by what the library says of
// its ABI. It opens the part in Go, the file beside it, when the ranks may have use for it: on rank 0 to read the
// network, on others to make a Broadcaster or a Reducer.
//
// Go leaves no trace in a program (hook/go.c). Its threads begin with all signals blocked, so that they take none
// from threads that wait for signals. Handlers and the limit of open files are set back to what they were, and
// Go may use one core at a time. While a thread of the program is in Go its signals wait, for goroutines have
// too little stack for handlers. The signals are taken where MPI waits for messages. A thread of the program
// without an alternate stack gets one of 1 MiB, as Go's own is too small for two handlers. Two things remain. Go's threads do
// not block SIGCHLD and SIGPROF, so programs cannot wait for these two by sigwait or signalfd. And
// a handler must not leave a call by longjmp.
//
// Our messages are sent by PMPI_Send and its like (hook/calls.c), so profilers count the program's calls only.
package main
