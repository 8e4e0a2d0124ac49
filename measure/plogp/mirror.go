package plogp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const (
	tagCommand = harness.FirstTag + iota
	tagForth
	tagBack
)

// A pattern is what the two ranks of a pair exchange, again and again. The one
// that measures asks for it, the other one mirrors (Kielmann, Bal, Verstoep
// 2000, figure 1).
type pattern byte

const (
	enough  pattern = iota // the pair is measured
	echo                   // a message, answered by one of 0 bytes
	stream                 // all messages in a row, then one answer of 0 bytes
	burst                  // the same, but some are started before the first is through
	request                // 0 bytes, answered by a message
)

// A command is a pattern of so many messages of so many bytes.
type command struct {
	pattern
	count, size int
}

const commandBytes = 1 + 4 + 4

// link is one rank's end of the pair that is being measured.
type link struct {
	comm mpi.Communicator
	peer int
	buf  []byte // for the longest message, and for all of a burst that are under way
	word []byte
	sets [2]mpi.Requests // for bursts
}

// A burst has two batches of at most so many messages, and bytes if it is more than one, under way.
const (
	mostBatch  = 8
	batchBytes = 1 << 20
)

func batch(size int) int { return max(1, min(mostBatch, batchBytes/max(1, size))) }

// burst sends or receives so many messages: while one batch is waited for, the other keeps the
// way full.
func (l *link) burst(count, size int, start func(set mpi.Requests, buf []byte) error) error {
	most := batch(size)
	for begin := 0; begin < count; begin += most {
		half := begin / most % 2
		if err := l.sets[half].WaitAll(); err != nil {
			return err
		}
		for i := range min(most, count-begin) {
			at := (half*most + i) * size
			if err := start(l.sets[half], l.buf[at:at+size]); err != nil {
				return err
			}
		}
	}
	return errors.Join(l.sets[0].WaitAll(), l.sets[1].WaitAll())
}

// newLink prepares the calling rank for patterns of messages of up to longest bytes, and bursts of
// those of up to saturated.
func newLink(comm mpi.Communicator, longest, saturated int) link {
	longest = max(longest, 2*saturated, min(2*batchBytes, 2*mostBatch*saturated))
	return link{
		comm: comm, word: make([]byte, commandBytes), buf: make([]byte, longest),
		sets: [2]mpi.Requests{mpi.NewRequests(comm), mpi.NewRequests(comm)},
	}
}

// ask begins a pattern: it returns when the peer is there. The rank that
// measures calls it.
func (l *link) ask(c command) error {
	l.word[0] = byte(c.pattern)
	binary.LittleEndian.PutUint32(l.word[1:], uint32(c.count))
	binary.LittleEndian.PutUint32(l.word[5:], uint32(c.size))
	if err := l.comm.Send(l.word, l.peer, tagCommand); err != nil {
		return err
	}
	return l.comm.Recv(nil, l.peer, tagCommand)
}

// mirror does what the peer asks for until it has measured enough.
func (l *link) mirror() error {
	for {
		if err := l.comm.Recv(l.word, l.peer, tagCommand); err != nil {
			return err
		}
		c := command{
			pattern(l.word[0]),
			int(binary.LittleEndian.Uint32(l.word[1:])), int(binary.LittleEndian.Uint32(l.word[5:])),
		}
		if c.size > len(l.buf) || c.pattern > request {
			return fmt.Errorf("plogp: rank %d asks for pattern %d with messages of %d B", l.peer, c.pattern, c.size)
		}
		if err := l.comm.Send(nil, l.peer, tagCommand); err != nil || c.pattern == enough {
			return err
		}
		if err := l.answer(c); err != nil {
			return err
		}
	}
}

// answer is the mirror's side of a pattern.
func (l *link) answer(c command) error {
	forth, back := l.buf[:c.size], l.buf[:0]
	if c.pattern == request {
		forth, back = back, forth
	}
	if c.pattern == burst {
		err := l.burst(c.count, c.size, func(set mpi.Requests, buf []byte) error { return set.Irecv(buf, l.peer, tagForth) })
		if err != nil {
			return err
		}
		return l.comm.Send(nil, l.peer, tagBack)
	}
	for i := range c.count {
		if err := l.comm.Recv(forth, l.peer, tagForth); err != nil {
			return err
		}
		if c.pattern == stream && i < c.count-1 {
			continue
		}
		if err := l.comm.Send(back, l.peer, tagBack); err != nil {
			return err
		}
	}
	return nil
}
