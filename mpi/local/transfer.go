package local

// A transfer is one side of a message that is under way: a send or a receive. It also holds a message that nobody has
// asked for yet.
type transfer struct {
	next     *transfer // in a list
	address  uint64    // context and tag
	buf      []byte    // the sender's data, or the receiver's buffer
	storage  []byte    // of a message that nobody has asked for
	receives bool
	done     bool
	size     int // of the message that a receive got

	// Of a lockedWorld.
	owner   *lockedRank // who waits for it; nil: a message that nobody has asked for
	set     *transfer   // requests.any of its set; nil: it is in none
	copying int         // ranks that copy from or to buf at this moment

	// Of a pinnedWorld.
	other       int       // the peer's rank in the world
	synchronous bool      // a send that waits for its receiver
	send        int       // index of its longSend, -1 if it has none
	long        *longSend // of a message that nobody has asked for; nil: it is in storage
}

// A list is a queue of transfers.
type list struct{ head, tail *transfer }

func (l *list) add(t *transfer) {
	t.next = nil
	if l.tail == nil {
		l.head = t
	} else {
		l.tail.next = t
	}
	l.tail = t
}

// take removes and returns the first transfer of an address, or nil.
func (l *list) take(address uint64) *transfer {
	var before *transfer
	for t := l.head; t != nil; before, t = t, t.next {
		if t.address != address {
			continue
		}
		if before == nil {
			l.head = t.next
		} else {
			before.next = t.next
		}
		if l.tail == t {
			l.tail = before
		}
		t.next = nil
		return t
	}
	return nil
}

// A pool keeps transfers that are not in use.
type pool struct{ free *transfer }

// get returns an empty transfer. It may have storage from an earlier use.
func (p *pool) get() *transfer {
	t := p.free
	if t == nil {
		return new(transfer)
	}
	p.free, t.next = t.next, nil
	return t
}

// put takes a transfer back, which is in no list.
func (p *pool) put(t *transfer) {
	const keep = 64 << 10 // larger storage is left to the garbage collector
	storage := t.storage
	if cap(storage) > keep {
		storage = nil
	}
	*t = transfer{storage: storage[:0], next: p.free}
	p.free = t
}
