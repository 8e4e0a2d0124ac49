// Package plogp measures the parameters of the parametrised LogP model between
// the ranks of a job: latency, and gap and overheads by message size, of every
// directed pair (Kielmann, Bal, Verstoep 2000; Reinfjell 2023, section 3.1).
//
//	result, err := plogp.Measure(ctx, comm, &plogp.Settings{Groups: hierarchy})
//	...
//	time := result.Pairs[0].Time(1 << 20) // s, on rank 0
//
// Conversions to LogP, LogGP and Hockney's model are model.PLogP's methods.
//
// # Method
//
// One rank of a pair measures, the other mirrors; then they change. The one that
// measures tells the other what to do, so sizes can follow from readings.
//
//  1. RTT(m): a message of m bytes, answered by one of 0 bytes.
//  2. g(m) up to 64 KiB: rows of messages, twice as many until the time per message
//     has settled; beyond, and of 0 bytes only in the fast measurement of
//     Kielmann et al., by eq. 3.1: g(m) = RTT(m) - RTT(0) + g(0).
//  3. L = RTT(0)/2 - g(0), eq. 3.2.
//  4. os(m): a synchronous send. or(m): a receive when 1.3 round trips have passed
//     since the message was asked for, in busy waiting.
//  5. Sizes are 0, 1, 2, 4, ... M, and more where a gap misses the straight line
//     through its neighbours', down to 32 bytes apart.
//
// What the thesis does otherwise: means are medians here, since a mean keeps
// what the scheduler has done to one sample; the gap of a row is what its second
// half took, as the time per message holds the answer's way, too; figure 3.6 sends
// back as many bytes as it got, where eq. 3.1 wants none; its loop variable
// j hides the receiver. RTT is timed with plain sends, os with synchronous ones:
// those would put a further round trip into RTT(0), and so into L.
//
// # Limits
//
// Above the size from which a library asks the receiver before it sends
// (rendezvous), a round trip, and with eq. 3.1 the gap, holds that question, as
// does what a program waits for; the rate of the wire is the slope of the gap. Where
// the two ranks share a CPU, times are the scheduler's.
package plogp
