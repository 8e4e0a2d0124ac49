// Package reduce has Reduce and Allreduce that follow the wiring of the machine. The MPI library's own operations stay
// where ours are not faster.
//
//	r, err := reduce.New(comm, &reduce.Settings{Network: network}) // collective, once
//	err = reduce.AllreduceSlice(r, sums, mpi.Sum)
//	err = reduce.ReduceSlice(r, sums, mpi.Max, root)
//
// # Method
//
// Package steps has the algorithms. The first reduction of a class of sizes finds out which of them is the fastest. Rank 0
// predicts that with the messages that each would send (bcast/predict). The best by prediction are timed, in rounds that
// leave out the slower half. The winner replaces the incumbent only if it is measurably faster in a paired test
// (bcast/tuner). The incumbent is the operation of package mpi/collective: the library's own where the communicator has it,
// and a simple algorithm elsewhere.
//
// What is decided can be kept in the network's file (Reducer.Table). The next job of the same ranks, hosts, library and
// settings confirms it by a short look.
//
// # Contract
//
// All ranks call an operation with equal lengths, reductions and roots. In the first one of a class, ranks that disagree get
// one error on all ranks.
//
// Sums of floating-point numbers depend on the order in which values are added. Within a job that order stays once a class
// is decided. The next job may have another one. All ranks get the same bits from an Allreduce of numbers. For functions
// that holds if f(a, b) and f(b, a) are the same bits.
//
// Messages have the tag Settings.Tag and the one below it, and mpi.MaxTag-1 in the incumbent. After an error the
// communicator is unusable.
//
// # Limits
//
// Communicators without mpi.NonBlocking keep the incumbent.
package reduce
