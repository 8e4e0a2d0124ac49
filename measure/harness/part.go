package harness

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A block is what rank 0 has all ranks do before it decides anew: consecutive rounds of one repetition.
type block struct {
	Repetition int
	First      int        // number of the first round
	Count      int        // rounds
	Chosen     [][][2]int `json:",omitempty"` // the rounds; none: those of the schedule
	Samples    int        `json:",omitempty"` // of a Sampler
	Every      int        // rounds of groups from one barrier of all ranks to the next
	WarmUp     bool       `json:",omitempty"` // before the first round
}

// A part is one rank's side of the rounds of AllPairs.
type part struct {
	*Conductor
	test    Test
	columns int
	order   *schedule
	groups  []*Barrier  // by level: that of the rank's group, nil if it is in none
	drawn   *repetition // the one under way
	samples int
	found   []float64 // by the last exchange
	rows    []float64 // of the block: peer, repetition and round before the columns

	// What rank 0 hears of its own part.
	after       func()  // each round; nil on other ranks
	warmed      float64 // s, from the first exchange of a repetition to its first round
	began, last float64 // s, when the first round of the block began, and the last one so far
}

func newPart(c *Conductor, test Test, order *schedule) *part {
	p := &part{Conductor: c, test: test, columns: len(test.Columns()), order: order, groups: make([]*Barrier, len(order.phases)), samples: order.plan.Samples}
	for level, f := range order.phases[:len(order.phases)-1] {
		if f.group >= 0 {
			p.groups[level] = c.Barrier(order.tree.Groups()[f.group].Hosts)
		}
	}
	return p
}

// act measures a block, and returns the rows of this rank.
func (p *part) act(told []byte) ([]float64, error) {
	var b block
	if err := json.Unmarshal(told, &b); err != nil {
		return nil, err
	}
	if p.drawn == nil || p.drawn.number != b.Repetition {
		p.drawn = p.order.repetition(b.Repetition)
	}
	if sampler, ok := p.test.(Sampler); ok && b.Samples != p.samples {
		sampler.SetSamples(b.Samples)
	}
	p.samples, p.rows = b.Samples, p.rows[:0]
	for i := range b.Count {
		var s step
		if len(b.Chosen) > 0 {
			s = p.order.chosen(b.Chosen[i])
		} else {
			s = p.drawn.step(b.First + i)
		}
		going, err := p.round(&b, i, s)
		if err != nil {
			return nil, fmt.Errorf("round %d of repetition %d: %w", b.First+i, b.Repetition, err)
		}
		if !going {
			break
		}
	}
	return p.rows, nil
}

// round measures round i of a block, unless the ranks are to stop.
func (p *part) round(b *block, i int, s step) (going bool, err error) {
	round := b.First + i
	var met float64 // s, before the warm-up
	if i == 0 && b.WarmUp {
		p.silence.at(b.Repetition, round-1) // where ranks meet is the next one
		if going, err := p.Meet(); err != nil || !going {
			return false, err
		}
		met = p.Now()
		if s.peer >= 0 {
			if err := p.With(s.peer, func() error { return p.test.WarmUp(s.peer) }); err != nil {
				return false, err
			}
		}
	}
	p.silence.at(b.Repetition, round-1)
	if going, err := p.begin(s, i%b.Every == 0); err != nil || !going {
		return false, err
	}
	if p.last = p.Now(); i == 0 {
		if p.began = p.last; b.WarmUp {
			p.warmed = p.began - met
		}
	}
	if s.peer >= 0 {
		if err := p.With(s.peer, func() error { return p.exchange(s.peer, b.Repetition, round) }); err != nil {
			return false, err
		}
	}
	if p.after != nil {
		p.after()
	}
	return true, nil
}

// begin brings those together that have to wait for each other before a round: the
// ranks of the groups that are at work, each group by itself, or all ranks. It tells
// whether to go on.
func (p *part) begin(s step, all bool) (bool, error) {
	if all || s.level == len(p.groups)-1 {
		return p.Meet()
	}
	p.silence.next()
	if !s.meets {
		return true, nil
	}
	_, err := p.groups[s.level].Wait(0)
	return true, err
}

// exchange is the test of one pair.
func (p *part) exchange(peer, repetition, round int) (err error) {
	if p.found, err = p.test.Exchange(p.found[:0], peer); err != nil {
		return err
	}
	if p.columns == 0 || len(p.found)%p.columns != 0 {
		return fmt.Errorf("the test appends %d values: want a multiple of its %d columns", len(p.found), p.columns)
	}
	for row := range slices.Chunk(p.found, p.columns) {
		p.rows = append(append(p.rows, float64(peer), float64(repetition), float64(round)), row...)
	}
	return nil
}

// rowsOf are the rows that a rank has found in a block.
func (p *part) rowsOf(from int, values []float64) ([]Row, error) {
	const place = 3 // peer, repetition and round
	width := place + p.columns
	if len(values)%width != 0 {
		return nil, fmt.Errorf("rank %d has delivered %d numbers: want rows of %d", from, len(values), width)
	}
	var rows []Row
	for v := range slices.Chunk(values, width) {
		rows = append(rows, Row{From: from, To: int(v[0]), Repetition: int(v[1]), Round: int(v[2]), Values: v[place:]})
	}
	return rows, nil
}
