package simnet

import (
	"fmt"
	"strings"

	"github.com/topocast/topocast/internal/words"
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
	const most = 10 // ranks that are told
	var b strings.Builder
	var lost []string
	told := 0
	for i := range w.ranks {
		r := &w.ranks[i]
		switch {
		case r.isLost:
			lost = append(lost, fmt.Sprint(i))
		case r.hasLeft:
		case told < most:
			told++
			fmt.Fprintf(&b, "\n\trank %d: %s", i, r.doing.describe())
		}
	}
	if more := w.running - told; more > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", more)
	}
	cause := ""
	if len(lost) > 0 {
		cause = fmt.Sprintf("%s lost (%s), and ", words.Count(len(lost), "rank"), words.List(lost))
	}
	return fmt.Errorf("simnet: at %.9g s: %w: %s%d ranks wait for what does not come:%s", w.now.seconds(), ErrDeadlock, cause, w.running, b.String())
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
