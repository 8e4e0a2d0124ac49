package mpitest

import (
	"math/rand/v2"
	"runtime"

	"github.com/topocast/topocast/mpi"
)

func requestsEmpty(_ mpi.Communicator, set mpi.Requests) {
	for range 2 {
		check(set.WaitAll(), "WaitAll of an empty set")
	}
}

// requestsMany has many transfers with every peer under way at once, more than
// an implementation may have room for, and uses the set again.
func requestsMany(c mpi.Communicator, set mpi.Requests) {
	const each = 32
	size := func(k int) int { return k * k * 7 } // 0 B .. 6727 B
	for round := range 3 {
		var in [][]byte
		for peer := range others(c) {
			for k := range each {
				buf := make([]byte, size(k))
				in = append(in, buf)
				check(set.Irecv(buf, peer, k))
			}
			for k := range each {
				buf := filled(size(k), c.Rank()+k+round)
				check(set.Isend(buf, peer, k))
			}
		}
		check(set.WaitAll())
		for peer := range others(c) {
			for k := range each {
				check(verify(in[0], peer+k+round), "round %d, message %d from rank %d", round, k, peer)
				in = in[1:]
			}
		}
	}
}

// requestsCrossing lets both sides of every pair send before they receive.
func requestsCrossing(c mpi.Communicator, set mpi.Requests) {
	for _, size := range []int{0, 1, 4096, 1 << 20} {
		if size > 4096 && c.Size() > 4 && c.Rank() > 1 {
			continue // long ones between two ranks only, or n^2 MiB are moved
		}
		peers := c.Size()
		if size > 4096 && peers > 4 {
			peers = 2
		}
		in := make([][]byte, peers)
		out := filled(size, c.Rank())
		for peer := range others(c) {
			if peer < peers {
				check(set.Isend(out, peer, 1))
			}
		}
		for peer := range others(c) {
			if peer < peers {
				in[peer] = make([]byte, size)
				check(set.Irecv(in[peer], peer, 1))
			}
		}
		check(set.WaitAll())
		for peer, buf := range in {
			check(verify(buf, peer), "%d bytes from rank %d", size, peer)
		}
	}
}

// requestsTags sends with tags 1, 2, 3 and receives with tags 3, 2, 1.
func requestsTags(c mpi.Communicator, set mpi.Requests) {
	eachPair(c, func(peer int, low bool) {
		if low {
			for tag := 1; tag <= 3; tag++ {
				buf := filled(32, tag)
				check(set.Isend(buf, peer, tag))
			}
			check(set.WaitAll())
			return
		}
		for tag := 3; tag >= 1; tag-- {
			check(recv(c, 32, tag, peer, tag), "tag %d", tag)
		}
	})
}

// requestsOrder posts several receives of one tag: they match in order.
func requestsOrder(c mpi.Communicator, set mpi.Requests) {
	const messages = 8
	eachPair(c, func(peer int, low bool) {
		bufs := make([][]byte, messages)
		for k := range bufs {
			if low {
				bufs[k] = filled(16, k)
				check(set.Isend(bufs[k], peer, 7))
			} else {
				bufs[k] = make([]byte, 16)
				check(set.Irecv(bufs[k], peer, 7))
			}
		}
		check(set.WaitAll())
		for k, buf := range bufs {
			check(verify(buf, k), "message %d", k)
		}
	})
}

// requestsMixed matches Isend with Recv, and Send with Irecv.
func requestsMixed(c mpi.Communicator, set mpi.Requests) {
	for _, size := range []int{0, 8, 128 << 10} {
		eachPair(c, func(peer int, low bool) {
			defer during("%d bytes", size)
			buf := make([]byte, size)
			if !low {
				check(recv(c, size, 1, peer, 1))
				check(send(c, size, 2, peer, 2))
				return
			}
			out := filled(size, 1)
			check(set.Isend(out, peer, 1))
			check(set.Irecv(buf, peer, 2))
			check(set.WaitAll())
			check(verify(buf, 2))
		})
	}
}

// requestsGC drops every reference to the buffers of pending sends, and
// collects garbage and allocates over it before they are waited for.
func requestsGC(c mpi.Communicator, set mpi.Requests) {
	const messages, size = 16, 32 << 10
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return
	}
	in := make([][]byte, messages)
	for k := range messages {
		in[k] = make([]byte, size)
		check(set.Irecv(in[k], peer, k))
	}
	for k := range messages {
		buf := filled(size, k)
		check(set.Isend(buf, peer, k))
	}
	for range 3 {
		runtime.GC()
		for range messages {
			litter := make([]byte, size)
			litter[0] = 1
		}
	}
	check(set.WaitAll())
	for k, buf := range in {
		check(verify(buf, k), "message %d", k)
	}
}

// requestsRandom starts transfers of random sizes and tags between all ranks
// in random order, some receives before the sends and some after them. Only
// the order of one pair and tag is the same on both sides.
func requestsRandom(c mpi.Communicator, sends mpi.Requests) {
	receives := newRequests(c)
	const rounds, messages, tags = 3, 12, 3
	type message struct {
		peer, tag, seed int
		buf             []byte
	}
	for round := range rounds {
		// Both sides draw the messages of a pair from the same source.
		traffic := func(src, dst int) []message {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(src*c.Size()+dst)))
			var all []message
			for k := range messages {
				size := rng.IntN(64) * rng.IntN(64) * rng.IntN(8) // often short, at most 28 KB
				all = append(all, message{tag: rng.IntN(tags), seed: k + src + 3*dst, buf: make([]byte, size)})
			}
			return all
		}
		rng := rand.New(rand.NewPCG(uint64(round), uint64(1000+c.Rank())))
		// queues are what has to keep its order: one per peer for sends, one
		// per peer and tag for receives.
		var out, in [][]message
		for peer := range others(c) {
			var queue []message
			for _, m := range traffic(c.Rank(), peer) {
				m.peer = peer
				fill(m.buf, m.seed)
				queue = append(queue, m)
			}
			out = append(out, queue)
			byTag := make([][]message, tags)
			for _, m := range traffic(peer, c.Rank()) {
				m.peer = peer
				byTag[m.tag] = append(byTag[m.tag], m)
			}
			in = append(in, byTag...)
		}
		draw := func(queues [][]message) (m message, ok bool) {
			for _, q := range rng.Perm(len(queues)) {
				if len(queues[q]) > 0 {
					m, queues[q] = queues[q][0], queues[q][1:]
					return m, true
				}
			}
			return message{}, false
		}
		var received []message
		for outLeft, inLeft := true, true; outLeft || inLeft; {
			var m message
			if outLeft && (!inLeft || rng.IntN(2) == 0) {
				if m, outLeft = draw(out); outLeft {
					check(sends.Isend(m.buf, m.peer, m.tag))
				}
				continue
			}
			if m, inLeft = draw(in); inLeft {
				check(receives.Irecv(m.buf, m.peer, m.tag))
				received = append(received, m)
			}
		}
		sets := []mpi.Requests{sends, receives}
		if rng.IntN(2) == 0 {
			sets[0], sets[1] = sets[1], sets[0]
		}
		for _, set := range sets {
			check(set.WaitAll())
		}
		for _, m := range received {
			check(verify(m.buf, m.seed), "round %d, message of tag %d from rank %d", round, m.tag, m.peer)
		}
	}
}
