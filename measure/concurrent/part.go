package concurrent

import (
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A part is what one rank has to do with a pattern. Starts and ends are
// stamps of its clock in s, one per iteration that counts: all that it sends starts at once.
type part struct {
	transfers []model.Transfer
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
	var in, out int64
	for _, i := range p.receives {
		in += transfers[i].Bytes
	}
	for _, i := range p.sends {
		out = max(out, transfers[i].Bytes)
	}
	c.in, c.out = slices.Grow(c.in[:0], int(in))[:in], slices.Grow(c.out[:0], int(out))[:out]
	p.in, p.out = c.in, c.out
	p.ends = make([][]float64, len(p.receives))
	return p
}

// post readies an iteration: receives wait for their messages. What is sent and what is overwritten is written anew, so
// that no page is missing, and caches hold the same in each iteration. What messages without content are made of is left
// alone, and then takes no memory.
func (p *part) post(c *campaign) error {
	c.fills++
	if !slices.ContainsFunc(p.transfers, func(t model.Transfer) bool { return isHollow(c.Comm, t.Bytes) }) {
		fill(p.in, 0)
		fill(p.out, byte(c.fills))
	}
	in := p.in
	for _, i := range p.receives {
		t := p.transfers[i]
		if err := c.set.Irecv(in[:t.Bytes:t.Bytes], t.Src, tagTransfer); err != nil {
			return err
		}
		in = in[t.Bytes:]
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

// isHollow tells whether messages of so many bytes carry no content, as long ones of simulated ranks: what is in their
// buffers does not matter then.
func isHollow(comm mpi.Communicator, bytes int64) bool {
	c, ok := comm.(interface{ IsHollow(bytes int64) bool })
	return ok && c.IsHollow(bytes)
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
