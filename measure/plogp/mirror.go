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

// A burst has two batches of at most so many messages, and bytes if it is more than one, under way.
const (
	mostBatch  = 8
	batchBytes = 1 << 20
)

func batch(size int) int { return max(1, min(mostBatch, batchBytes/max(1, size))) }

// burst sends or receives so many messages: while one batch is waited for, the other keeps the
// way full.
func (m *meter) burst(count, size int, start func(set mpi.Requests, buf []byte) error) error {
	most := batch(size)
	for begin := 0; begin < count; begin += most {
		half := begin / most % 2
		if err := m.sets[half].WaitAll(); err != nil {
			return err
		}
		for i := range min(most, count-begin) {
			at := (half*most + i) * size
			if err := start(m.sets[half], m.buf[at:at+size]); err != nil {
				return err
			}
		}
	}
	return errors.Join(m.sets[0].WaitAll(), m.sets[1].WaitAll())
}

// ask begins a pattern: it returns when the peer is there. The rank that
// measures calls it.
func (m *meter) ask(c command) error {
	m.word[0] = byte(c.pattern)
	binary.LittleEndian.PutUint32(m.word[1:], uint32(c.count))
	binary.LittleEndian.PutUint32(m.word[5:], uint32(c.size))
	if err := m.comm.Send(m.word, m.peer, tagCommand); err != nil {
		return err
	}
	return m.comm.Recv(nil, m.peer, tagCommand)
}

// mirror does what the peer asks for until it has measured enough.
func (m *meter) mirror() error {
	for {
		if err := m.comm.Recv(m.word, m.peer, tagCommand); err != nil {
			return err
		}
		c := command{
			pattern(m.word[0]),
			int(binary.LittleEndian.Uint32(m.word[1:])), int(binary.LittleEndian.Uint32(m.word[5:])),
		}
		if c.size > len(m.buf) || c.pattern > request {
			return fmt.Errorf("plogp: rank %d asks for pattern %d with messages of %d B", m.peer, c.pattern, c.size)
		}
		if err := m.comm.Send(nil, m.peer, tagCommand); err != nil || c.pattern == enough {
			return err
		}
		if err := m.answer(c); err != nil {
			return err
		}
	}
}

// answer is the mirror's side of a pattern.
func (m *meter) answer(c command) error {
	forth, back := m.buf[:c.size], m.buf[:0]
	if c.pattern == request {
		forth, back = back, forth
	}
	if c.pattern == burst {
		err := m.burst(c.count, c.size, func(set mpi.Requests, buf []byte) error { return set.Irecv(buf, m.peer, tagForth) })
		if err != nil {
			return err
		}
		return m.comm.Send(nil, m.peer, tagBack)
	}
	for i := range c.count {
		if err := m.comm.Recv(forth, m.peer, tagForth); err != nil {
			return err
		}
		if c.pattern == stream && i < c.count-1 {
			continue
		}
		if err := m.comm.Send(back, m.peer, tagBack); err != nil {
			return err
		}
	}
	return nil
}
