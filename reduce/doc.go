// Package reduce has Reduce and Allreduce that follow the wiring of the machine. The MPI library's own operations stay
// where ours are not faster.
//
//	r, err := reduce.New(comm, &reduce.Settings{Network: network}) // collective, once
//	err = reduce.AllreduceSlice(r, sums, mpi.Sum)
//	err = reduce.ReduceSlice(r, sums, mpi.Max, root)
//
// # Method
//
// Package bcast/schedule has the algorithms. The first reduction of a class of sizes finds out which of them is the fastest. Rank 0
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
// All ranks call an operation with equal lengths, types of elements, reductions and roots. If they do not:
//
//   - In the first call of a kind, and in Tune, all ranks get an error, and go on together. A kind is a class of sizes, a root, a type
//     and a reduction; after Tune a class of sizes and a root. In the first call of a class of sizes that is so for calls that one rank
//     refuses, too: a root that is no rank, a reduction or a function that is none.
//   - In later calls nothing looks, as that would take messages. Ranks get wrong results, wait for ever, or a rank gets an error
//     alone. If the ranks go on, the next first call tells all of them. Tune without sizes does so at any time.
//   - A rank that calls another package, or returns while others reduce, lets these wait for ever. MPI itself does so, too. Ranks
//     of package mpi/local and of mpi/simnet get an error instead: a deadlock.
//
// Vectors of no elements send nothing once the ranks have agreed.
//
// Sums of floating-point numbers depend on the order in which values are added. Within a job that order stays once a class
// is decided. The next job may have another one, unless sums are reproducible. All ranks get the same bits from an Allreduce of
// numbers. For functions that holds if f(a, b) and f(b, a) are the same bits.
//
// Sums of 8 and 16 bits that overflow depend on what is chosen: ours wrap round, and those of Open MPI stop at the largest number.
//
// Messages have the tag Settings.Tag, and mpi.MaxTag-1 in the incumbent. After an error the
// communicator is unusable.
//
// # Reproducible sums
//
// With Settings.Reproducible, the bits of a sum of float32 or float64 depend on the vectors and the number of ranks alone. It does not matter
// which rank has which vector, where ranks run, which algorithm is chosen, and how long its segments are. Values are rounded to
// multiples of a power of two, which blocks of 64 elements share (32 of float32). The multiples are integers, whose sums are exact in any order (J. Demmel,
// H. D. Nguyen, Fast reproducible floating-point summation, 2013, and Parallel reproducible summation, 2015). Sums of few numbers, up to 3
// float64 or 19 float32, are exact and then rounded once.
//
//   - Accuracy: sums are no further off than the usual bound for ordinary ones allows, (n-1) u times the sum of magnitudes, for n ranks
//     and u = 2^-53 (2^-24 for float32). That is so in every element, whatever the others of its block are.
//   - NaN and infinities have their IEEE results. All NaN are the same one. Only the sum itself can overflow, and no sum of some ranks. A sum
//     of zeros is +0, from three ranks on.
//   - Min and Max take -0 to be below +0, and are NaN if any value is.
//   - Products of floating-point numbers are refused. AllreduceFunc and ReduceFunc are as reproducible as their function.
//
// A sum costs one short Allreduce more, of 1/256 of the bytes (1/64 for float32), and then 1/64 more bytes (1/32). A Reduce needs a second short
// Allreduce. Vectors of a few KiB so take about twice the time. An exact sum costs no other message, but 560 bytes for a float64 (104 for a float32). Each rank computes for some 0.4 ms more per MiB (0.8 ms for float32). Elements much smaller than others
// of their block need a further round: on average over the ranks, by more than 2^10 (2^7 for float32). So do elements that are zero on all
// ranks, among others that are not whole numbers. Values that are not finite double the time. Warm sums allocate nothing. Memory is as much
// again as that of the vector.
//
// # Limits
//
// Communicators without mpi.NonBlocking keep the incumbent.
package reduce
