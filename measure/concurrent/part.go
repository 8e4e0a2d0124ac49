package concurrent

import (
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A part is what one rank has to do with a pattern. Starts and ends are
// stamps of its clock in s, one per iteration that counts.
type part struct {
	transfers []model.Transfer
	sends     []int // which transfers it sends, ascending
	receives  []int // and receives
	starts    [][]float64
	ends      [][]float64 // NaN where an end was not seen
	first     int         // number of the first iteration
	count     int         // iterations
}

// A way moves the messages of a part. After post the receives wait for their messages, if
// the communicator can do that; run starts the sends, appends stamps, and returns when all
// messages of the rank have been moved.
type way interface {
	post(p *part, in []byte) error
	run(p *part, out []byte, now func() float64) error
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
	p.starts = make([][]float64, len(p.sends))
	p.ends = make([][]float64, len(p.receives))
	return p
}

// newWay is the best that a communicator can do.
func newWay(comm mpi.Communicator) way {
	nb, ok := comm.(mpi.NonBlocking)
	if !ok {
		return &oneByOne{comm: comm}
	}
	return &together{set: nb.NewRequests()}
}

// post readies an iteration. What is sent and what is overwritten is written anew, so that no
// page is missing, and caches hold the same in each iteration.
func (p *part) post(c *campaign) error {
	if !c.plan.Untouched {
		var in int64
		for _, i := range p.receives {
			in += p.transfers[i].Bytes
		}
		var out int64
		for _, i := range p.sends {
			out = max(out, p.transfers[i].Bytes)
		}
		fill(c.in[:in], 0)
		fill(c.out[:out], byte(p.first+p.count+1))
	}
	return c.way.post(p, c.in)
}

func (p *part) run(c *campaign) error {
	p.count++
	return c.way.run(p, c.out, c.Now)
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

// together has all transfers in one set, which tells each that is complete.
type together struct{ set mpi.Requests }

func (w *together) post(p *part, in []byte) error {
	for _, i := range p.receives {
		t := p.transfers[i]
		if err := w.set.Irecv(in[:t.Bytes:t.Bytes], t.Src, tagTransfer); err != nil {
			return err
		}
		in = in[t.Bytes:]
	}
	return nil
}

func (w *together) run(p *part, out []byte, now func() float64) error {
	start := now()
	for k, i := range p.sends {
		t := p.transfers[i]
		p.starts[k] = append(p.starts[k], start)
		if err := w.set.Isend(out[:t.Bytes], t.Dst, tagTransfer); err != nil {
			return err
		}
	}
	for {
		k, err := w.set.WaitAny()
		switch {
		case err != nil:
			return err
		case k < 0:
			return w.set.WaitAll()
		case k < len(p.ends): // receives were begun first
			p.ends[k] = append(p.ends[k], now())
		}
	}
}

// oneByOne has blocking calls only. All ranks take the transfers in one order, so
// that the first which is not over is the next of both its ranks.
type oneByOne struct {
	comm mpi.Communicator
	in   []byte
}

func (w *oneByOne) post(_ *part, in []byte) error {
	w.in = in
	return nil
}

func (w *oneByOne) run(p *part, out []byte, now func() float64) error {
	sent, received := 0, 0
	for _, t := range p.transfers {
		switch w.comm.Rank() {
		case t.Src:
			p.starts[sent] = append(p.starts[sent], now())
			sent++
			if err := w.comm.Send(out[:t.Bytes], t.Dst, tagTransfer); err != nil {
				return err
			}
		case t.Dst:
			if err := w.comm.Recv(w.in[:t.Bytes], t.Src, tagTransfer); err != nil {
				return err
			}
			p.ends[received] = append(p.ends[received], now())
			received++
		}
	}
	return nil
}
