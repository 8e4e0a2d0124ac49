// Package plogp measures the parameters of the parametrised LogP model between
// the ranks of a job: latency, and gap and overheads by message size, of every
// directed pair (Kielmann, Bal, Verstoep 2000; Reinfjell 2023, section 3.1).
//
//	result, err := plogp.Measure(ctx, comm, &plogp.Settings{Groups: hierarchy})
//	...
//	time := result.Pairs[0].Time(1 << 20) // s, on rank 0
//
// Conversions to LogP, LogGP and Hockney's model are model.PLogP's methods. Result.Distances makes of
// the parameters how far apart ranks are (Reinfjell 2023, section 3.2), for package topology/cluster and
// any other Reconstructor.
//
// # Method
//
// One rank of a pair measures, the other mirrors; then they change. The one that
// measures tells the other what to do. A round is one size of a pair, in both directions. Rank 0 plans the rounds,
// so sizes can follow from what was measured, and a budget ends between two sizes.
//
//  1. RTT(m): a message of m bytes, answered by one of 0 bytes.
//  2. g(m) up to a, the first size beyond 64 KiB: rows of messages, twice as many until the
//     time per message has settled; beyond, by eq. 3.1 from there on: g(m) = RTT(m) - RTT(a) + g(a).
//     In the fast measurement of Kielmann et al. a is 0.
//  3. L = RTT(0)/2 - g(0), eq. 3.2.
//  4. os(m): a synchronous send. or(m): a receive when 1.3 round trips have passed
//     since the message was asked for, in busy waiting.
//  5. Sizes are 0, 1, 2, 4, ... M, and more where a gap misses the straight line
//     through its neighbours' in either direction, down to 32 bytes apart.
//
// What the thesis does otherwise: means are medians here, since a mean keeps
// what the scheduler has done to one sample. Of three rows of a length the least counts. The gap of
// a row is what its second half took, as the time per message holds the answer's way, too; figure 3.6 sends
// back as many bytes as it got, where eq. 3.1 wants none; its loop variable
// j hides the receiver. RTT is timed with plain sends, os with synchronous ones:
// those would put a further round trip into RTT(0), and so into L.
//
// Above some size a library asks the receiver before it sends (rendezvous). The way is
// empty meanwhile. With 1 ms of latency at 100 Mbit/s, messages of 64 KiB take 5.2 ms of the way. Sent one after the
// other, they follow each other in 7 ms under Open MPI 4.1 and in 10 ms under MPICH 4.0.
// The question is no part of the gap. At most 16 messages are started together. Where they
// are faster by a tenth than one after the other, rows consist of those. Then eq. 3.1, whose
// RTT(m) - RTT(0) holds the question, begins with a size of the same kind, a, instead of 0. g(0) above
// RTT(0)/2, where L would be below 0, is measured up to three times.
//
// # Limits
//
// L + g(m) does not hold the question either. What a lone message takes is
// RTT(m) - RTT(0)/2, as Observations have it. The fast measurement has it in the gap, as a library
// has that asks from a size beyond a on. Where the two ranks share a CPU, times are the scheduler's.
package plogp
