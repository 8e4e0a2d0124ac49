package netlab

// A queue holds the frames that wait for one link direction, up to a number of
// bytes. A FIFO queue has one lane. A fair queue has a lane per connection, up
// to hash collisions, and serves them by deficit round robin (Shreedhar and
// Varghese 1996): a visit gives a lane one quantum of bytes to send.
type queue struct {
	limit   int // bytes
	mark    int // bytes from which on ECN-capable frames are marked; 0: never
	quantum int // bytes; 0: FIFO
	bytes   int

	lanes  []lane
	active []int32 // lanes with frames, a ring in the order of service
	first  int
	count  int
}

// A lane is a FIFO list of frames.
type lane struct {
	head, tail *frame
	deficit    int
}

// fairLanes is the number of lanes of a fair queue, a power of two.
const fairLanes = 64

func newQueue(q Queue, quantum int) queue {
	if q.Discipline == fifo {
		return queue{limit: q.Bytes, mark: q.ECN, lanes: make([]lane, 1), active: make([]int32, 1)}
	}
	return queue{limit: q.Bytes, mark: q.ECN, quantum: quantum, lanes: make([]lane, fairLanes), active: make([]int32, fairLanes)}
}

func (q *queue) empty() bool { return q.bytes == 0 }

// push appends a frame and marks it if the queue is long. It returns false if
// the frame does not fit.
func (q *queue) push(f *frame, c *Counter) bool {
	if q.bytes+f.n > q.limit {
		return false
	}
	if q.mark > 0 && q.bytes+f.n > q.mark && markCE(f.buf[:f.n]) {
		c.Marks++
	}
	q.bytes += f.n
	c.QueuePeak = max(c.QueuePeak, uint64(q.bytes))
	id := int(f.flow) & (len(q.lanes) - 1)
	l := &q.lanes[id]
	f.next = nil
	if l.head == nil {
		l.head = f
		l.deficit = q.quantum
		q.active[(q.first+q.count)%len(q.active)] = int32(id)
		q.count++
	} else {
		l.tail.next = f
	}
	l.tail = f
	return true
}

// pop takes the next frame out, nil if there is none.
func (q *queue) pop() *frame {
	if q.count == 0 {
		return nil
	}
	l := &q.lanes[q.active[q.first]]
	for q.quantum > 0 && l.deficit < l.head.n {
		l.deficit += q.quantum
		q.rotate()
		l = &q.lanes[q.active[q.first]]
	}
	f := l.head
	l.deficit -= f.n
	l.head = f.next
	f.next = nil
	q.bytes -= f.n
	if l.head == nil {
		q.first = (q.first + 1) % len(q.active)
		q.count--
	}
	return f
}

// rotate moves the lane that is served to the end of the round.
func (q *queue) rotate() {
	id := q.active[q.first]
	q.first = (q.first + 1) % len(q.active)
	q.active[(q.first+q.count-1)%len(q.active)] = id
}

// markCE sets Congestion Experienced in an IPv4 frame whose sender understands
// ECN (RFC 3168), and repairs the header checksum (RFC 1624). It returns
// whether the frame carries the mark.
func markCE(b []byte) bool {
	const (
		ip  = 14 // Ethernet header
		tos = ip + 1
		sum = ip + 10
		ce  = 3
	)
	if len(b) < ip+20 || b[12] != 0x08 || b[13] != 0 || b[ip]>>4 != 4 {
		return false
	}
	ecn := b[tos] & 3
	if ecn == 0 {
		return false
	}
	if ecn == ce {
		return true
	}
	old := uint32(b[ip])<<8 | uint32(b[tos])
	b[tos] |= ce
	changed := uint32(b[ip])<<8 | uint32(b[tos])
	s := uint32(^(uint16(b[sum])<<8 | uint16(b[sum+1]))) + (^old & 0xffff) + changed
	s = s&0xffff + s>>16
	s = s&0xffff + s>>16
	b[sum], b[sum+1] = byte(^s>>8), byte(^s)
	return true
}

// flowOf tells connections apart by the ports of TCP and UDP over IPv4. The
// low bits are well mixed.
func flowOf(b []byte, src, dst int) uint32 {
	h := uint32(src)*0x9e3779b1 ^ uint32(dst)*0x85ebca6b
	const ip = 14
	if len(b) >= ip+20 && b[12] == 0x08 && b[13] == 0 {
		l4 := ip + int(b[ip]&15)*4
		if (b[ip+9] == 6 || b[ip+9] == 17) && len(b) >= l4+4 {
			h ^= (uint32(b[l4])<<24 | uint32(b[l4+1])<<16 | uint32(b[l4+2])<<8 | uint32(b[l4+3])) * 0xc2b2ae35
		}
	}
	h ^= h >> 16
	h *= 0x7feb352d
	h ^= h >> 15
	return h
}
