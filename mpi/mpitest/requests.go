package mpitest

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/topocast/topocast/mpi"
)

func requestsEmpty(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	for range 2 {
		if err := set.WaitAll(); err != nil {
			return fmt.Errorf("WaitAll of an empty set: %w", err)
		}
	}
	return nil
}

// requestsMany has many transfers with every peer under way at once, more than
// an implementation may have room for, and uses the set again.
func requestsMany(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	const each = 32
	size := func(k int) int { return k * k * 7 } // 0 B .. 6727 B
	for round := range 3 {
		var in [][]byte
		for peer := range c.Size() {
			if peer == c.Rank() {
				continue
			}
			for k := range each {
				buf := make([]byte, size(k))
				in = append(in, buf)
				if err := set.Irecv(buf, peer, k); err != nil {
					return err
				}
			}
			for k := range each {
				buf := make([]byte, size(k))
				fill(buf, c.Rank()+k+round)
				if err := set.Isend(buf, peer, k); err != nil {
					return err
				}
			}
		}
		if err := set.WaitAll(); err != nil {
			return err
		}
		for peer := range c.Size() {
			if peer == c.Rank() {
				continue
			}
			for k := range each {
				if err := verify(in[0], peer+k+round); err != nil {
					return fmt.Errorf("round %d, message %d from rank %d: %w", round, k, peer, err)
				}
				in = in[1:]
			}
		}
	}
	return nil
}

// requestsCrossing lets both sides of every pair send before they receive.
func requestsCrossing(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	for _, size := range []int{0, 1, 4096, 1 << 20} {
		if size > 4096 && c.Size() > 4 && c.Rank() > 1 {
			continue // long ones between two ranks only, or n^2 MiB are moved
		}
		peers := c.Size()
		if size > 4096 && peers > 4 {
			peers = 2
		}
		in := make([][]byte, peers)
		out := make([]byte, size)
		fill(out, c.Rank())
		for peer := range peers {
			if peer == c.Rank() {
				continue
			}
			if err := set.Isend(out, peer, 1); err != nil {
				return err
			}
		}
		for peer := range peers {
			if peer == c.Rank() {
				continue
			}
			in[peer] = make([]byte, size)
			if err := set.Irecv(in[peer], peer, 1); err != nil {
				return err
			}
		}
		if err := set.WaitAll(); err != nil {
			return err
		}
		for peer, buf := range in {
			if err := verify(buf, peer); err != nil {
				return fmt.Errorf("%d bytes from rank %d: %w", size, peer, err)
			}
		}
	}
	return nil
}

// requestsTags sends with tags 1, 2, 3 and receives with tags 3, 2, 1.
func requestsTags(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	return eachPair(c, func(peer int, low bool) error {
		if low {
			for tag := 1; tag <= 3; tag++ {
				buf := make([]byte, 32)
				fill(buf, tag)
				if err := set.Isend(buf, peer, tag); err != nil {
					return err
				}
			}
			return set.WaitAll()
		}
		for tag := 3; tag >= 1; tag-- {
			if err := recv(c, 32, tag, peer, tag); err != nil {
				return fmt.Errorf("tag %d: %w", tag, err)
			}
		}
		return nil
	})
}

// requestsOrder posts several receives of one tag: they match in order.
func requestsOrder(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	const messages = 8
	return eachPair(c, func(peer int, low bool) error {
		bufs := make([][]byte, messages)
		for k := range bufs {
			bufs[k] = make([]byte, 16)
			var err error
			if low {
				fill(bufs[k], k)
				err = set.Isend(bufs[k], peer, 7)
			} else {
				err = set.Irecv(bufs[k], peer, 7)
			}
			if err != nil {
				return err
			}
		}
		if err := set.WaitAll(); err != nil {
			return err
		}
		for k, buf := range bufs {
			if err := verify(buf, k); err != nil {
				return fmt.Errorf("message %d: %w", k, err)
			}
		}
		return nil
	})
}

// requestsMixed matches Isend with Recv, and Send with Irecv.
func requestsMixed(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	for _, size := range []int{0, 8, 128 << 10} {
		err := eachPair(c, func(peer int, low bool) error {
			buf := make([]byte, size)
			if !low {
				if err := recv(c, size, 1, peer, 1); err != nil {
					return err
				}
				return send(c, size, 2, peer, 2)
			}
			out := make([]byte, size)
			fill(out, 1)
			if err := set.Isend(out, peer, 1); err != nil {
				return err
			}
			if err := set.Irecv(buf, peer, 2); err != nil {
				return err
			}
			if err := set.WaitAll(); err != nil {
				return err
			}
			return verify(buf, 2)
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// requestsGC drops every reference to the buffers of pending sends, and
// collects garbage and allocates over it before they are waited for.
func requestsGC(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	const messages, size = 16, 32 << 10
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return nil
	}
	in := make([][]byte, messages)
	for k := range messages {
		in[k] = make([]byte, size)
		if err := set.Irecv(in[k], peer, k); err != nil {
			return err
		}
	}
	for k := range messages {
		buf := make([]byte, size)
		fill(buf, k)
		if err := set.Isend(buf, peer, k); err != nil {
			return err
		}
	}
	for range 3 {
		runtime.GC()
		for range messages {
			litter := make([]byte, size)
			litter[0] = 1
		}
	}
	if err := set.WaitAll(); err != nil {
		return err
	}
	for k, buf := range in {
		if err := verify(buf, k); err != nil {
			return fmt.Errorf("message %d: %w", k, err)
		}
	}
	return nil
}

// requestsRandom starts transfers of random sizes and tags between all ranks
// in random order, some receives before the sends and some after them. Only
// the order of one pair and tag is the same on both sides.
func requestsRandom(c mpi.Communicator) error {
	sends, receives := newRequests(c), newRequests(c)
	if sends == nil {
		return nil
	}
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
		for peer := range c.Size() {
			if peer == c.Rank() {
				continue
			}
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
					if err := sends.Isend(m.buf, m.peer, m.tag); err != nil {
						return err
					}
				}
				continue
			}
			if m, inLeft = draw(in); inLeft {
				if err := receives.Irecv(m.buf, m.peer, m.tag); err != nil {
					return err
				}
				received = append(received, m)
			}
		}
		sets := []mpi.Requests{sends, receives}
		if rng.IntN(2) == 0 {
			sets[0], sets[1] = sets[1], sets[0]
		}
		for _, set := range sets {
			if err := set.WaitAll(); err != nil {
				return err
			}
		}
		for _, m := range received {
			if err := verify(m.buf, m.seed); err != nil {
				return fmt.Errorf("round %d, message of tag %d from rank %d: %w", round, m.tag, m.peer, err)
			}
		}
	}
	return nil
}
