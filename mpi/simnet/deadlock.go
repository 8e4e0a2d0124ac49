package simnet

import (
	"fmt"
	"strings"
)

// pending is what a rank waits in.
type pending struct {
	op        string
	comm      *Comm
	peer, tag int       // -1: none
	set       *requests // of WaitAll
}

// deadlock reports what every rank waits for that has not returned.
func (w *world) deadlock() error {
	var b strings.Builder
	for i := range w.ranks {
		r := &w.ranks[i]
		if r.hasLeft {
			if r.isLost {
				fmt.Fprintf(&b, "\n\trank %d: lost", i)
			}
			continue
		}
		fmt.Fprintf(&b, "\n\trank %d: %s", i, r.doing.describe())
	}
	return fmt.Errorf("simnet: at %.9g s: %w: %d ranks wait for what does not come:%s", w.now.seconds(), ErrDeadlock, w.running, b.String())
}

func (p pending) describe() string {
	s := p.op
	if p.peer >= 0 {
		s += fmt.Sprintf(" with rank %d, tag %d", p.peer, p.tag)
	}
	if p.set != nil {
		s += p.set.describe()
	}
	return s
}

// describe lists the transfers of a set that are not complete.
func (s *requests) describe() string {
	const shown = 4
	text, open := "", 0
	for _, e := range s.entries {
		how, peer, isOpen := "Irecv from", e.m.src, e.m.taker == s
		if e.isSend {
			how, peer, isOpen = "Isend to", e.m.dst, e.m.sender == s
		}
		if !isOpen {
			continue
		}
		if open++; open <= shown {
			text += fmt.Sprintf(", %s rank %d, tag %d", how, s.comm.rankOf(peer), e.m.key.tag())
		}
	}
	if open > shown {
		text += fmt.Sprintf(", and %d more", open-shown)
	}
	return text
}
