package concurrent

import (
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// A part is what one rank has to do with a pattern. Starts and ends are
// stamps of its clock in s, one per iteration that counts: all that it sends starts at once.
type part struct {
	transfers []model.Transfer
	hollow    bool  // messages carry no content, and all are in one buffer
	sends     []int // which transfers it sends, ascending
	receives  []int // and receives
	in, out   []byte
	starts    []float64
	ends      [][]float64 // of each transfer that it receives
}

func (c *campaign) newPart(transfers []model.Transfer) *part {
	p := &part{transfers: transfers}
	for i, t := range transfers {
		if t.Src == c.Comm.Rank() {
			p.sends = append(p.sends, i)
		}
		if t.Dst == c.Comm.Rank() {
			p.receives = append(p.receives, i)
		}
	}
	var in, out, longest int64
	for _, t := range transfers {
		longest = max(longest, t.Bytes)
	}
	for _, i := range p.receives {
		in += transfers[i].Bytes
	}
	for _, i := range p.sends {
		out = max(out, transfers[i].Bytes)
	}
	if shared := harness.Hollow(c.Comm, int(longest)); shared != nil {
		p.hollow, p.in, p.out = true, shared, shared
	} else {
		c.in, c.out = slices.Grow(c.in[:0], int(in))[:in], slices.Grow(c.out[:0], int(out))[:out]
		p.in, p.out = c.in, c.out
	}
	p.ends = make([][]float64, len(p.receives))
	return p
}

// post readies an iteration: receives wait for their messages. What is sent and what is overwritten is written anew, so
// that no page is missing, and caches hold the same in each iteration. What messages without content are made of is left
// alone, and then takes no memory.
func (p *part) post(c *campaign) error {
	c.fills++
	if !p.hollow {
		fill(p.in, 0)
		fill(p.out, byte(c.fills))
	}
	in := p.in
	for _, i := range p.receives {
		t := p.transfers[i]
		if err := c.set.Irecv(in[:t.Bytes:t.Bytes], t.Src, tagTransfer); err != nil {
			return err
		}
		if !p.hollow {
			in = in[t.Bytes:]
		}
	}
	return nil
}

// run starts the sends, and returns when all messages of the rank have been moved. It appends stamps.
func (p *part) run(c *campaign) error {
	p.starts = append(p.starts, c.Now())
	for _, i := range p.sends {
		t := p.transfers[i]
		if err := c.set.Isend(p.out[:t.Bytes], t.Dst, tagTransfer); err != nil {
			return err
		}
	}
	for {
		k, err := c.set.WaitAny()
		switch {
		case err != nil:
			return err
		case k < 0:
			return c.set.WaitAll()
		case k < len(p.ends): // receives were begun first
			p.ends[k] = append(p.ends[k], c.Now())
		}
	}
}

func fill(buf []byte, x byte) {
	if len(buf) == 0 {
		return
	}
	buf[0] = x
	for n := 1; n < len(buf); n *= 2 {
		copy(buf[n:], buf[:n])
	}
}

// peer is one of those whom the rank exchanges messages with; -1: none.
func (p *part) peer() int {
	if len(p.receives) > 0 {
		return p.transfers[p.receives[0]].Src
	}
	if len(p.sends) > 0 {
		return p.transfers[p.sends[0]].Dst
	}
	return -1
}
