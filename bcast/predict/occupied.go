package predict

// A library asks the receiver before it sends a long message (rendezvous). The time of a lone message holds the
// question and its answer, two latencies of a message of no bytes, during which its links are free for others. Which
// sizes it asks for is not told, only what messages of some sizes take. A message of manyBytes is sent in pieces, too.
// What a shorter one takes beyond its share of that is taken for the wait, up to two latencies.
const (
	manyBytes = 4 << 20 // bytes; a wait is no part of it worth counting
	latencies = 2
)

// asking is the part of a latency from which a wait is taken for a question. Times between two measured sizes
// hold a part of the wait of the longer one, and what is below is noise.
const asking = 0.25

// underWay is how many messages to one receiver that it is asked for first a rank has on their way: mpi.Scheduler, as
// bcast's own executor, keeps one receive posted ahead, and lets the sends of one stage run on during the next.
const underWay = 2

// occupied is for how long in s a lone message between two ranks keeps the slowest of its links from others, and whether
// its receiver is asked first. The message takes full s, and one of no bytes takes empty s.
func (e *Evaluator) occupied(src, dst, length int, empty, full float64) (busy float64, asks bool) {
	all := max(0, full-empty)
	if all <= asking*empty || length >= manyBytes {
		return all, false
	}
	share := (e.transfers.Time(src, dst, manyBytes) - empty) * float64(length) / manyBytes
	busy = min(all, max(share, all-latencies*empty))
	return busy, all-busy > asking*empty
}

// turn is when in s the next message of the channel may come to its first link. Some of those before it, for which
// the receiver was asked, have to be there.
func (c *channel) turn() float64 {
	if !c.asks || c.moved < underWay {
		return 0
	}
	return c.arrived[c.moved-underWay]
}
