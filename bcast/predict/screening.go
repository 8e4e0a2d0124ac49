package predict

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// screenFamily estimates the settings of an algorithm: those that seem fastest come first.
func (s *search) screenFamily(f family) []estimate {
	var first []estimate
	if v, ok := s.list[f.from].(schedule.Factored); ok {
		first = s.descend(f, v.Factors(s.problem))
	} else {
		for i := f.from; i < f.to; i++ {
			first = append(first, s.screen(i))
		}
	}
	slices.SortStableFunc(first, func(a, b estimate) int { return cmp.Compare(a.seconds, b.seconds) })
	s.least = min(s.least, first[0].seconds)
	return first
}

// screen is the best one of a whole message, usual segments, and the shortest, which fill long chains with short
// messages; with many ranks it is usual segments.
func (s *search) screen(index int) estimate {
	if s.ranks > many {
		segment := usualSegment
		if s.problem.Bytes <= segment {
			segment = 0
		}
		g := s.estimate(index, segment)
		s.least = min(s.least, g.seconds)
		return g
	}
	best := s.estimate(index, 0)
	for _, segment := range [...]int{usualSegment, MinSegment} {
		if s.problem.Bytes > segment {
			if g := s.estimate(index, segment); g.seconds < best.seconds {
				best = g
			}
		}
	}
	return best
}

// descend chooses one setting after the other, from some starts, until none
// alone does better; the index of a combination is the number whose digits are the
// choices, of the given bases, the first the most significant.
func (s *search) descend(f family, bases []int) []estimate {
	seen := make(map[int]estimate)
	look := func(digits []int) estimate {
		i := 0
		for k, base := range bases {
			i = i*base + digits[k]
		}
		g, ok := seen[i]
		if !ok {
			g = s.screen(f.from + i)
			seen[i] = g
		}
		return g
	}
	starts := slices.Max(append(slices.Clone(bases), 1))
	if s.ranks > many {
		starts = 1
	}
	for start := range starts {
		digits := make([]int, len(bases))
		for k := range digits {
			digits[k] = min(start, bases[k]-1)
		}
		best := look(digits)
		for better := true; better; {
			better = false
			for k, base := range bases {
				old := digits[k]
				for d := range base {
					digits[k] = d
					if g := look(digits); g.seconds < best.seconds {
						best, old, better = g, d, true
					}
				}
				digits[k] = old
			}
		}
	}
	all := make([]estimate, 0, len(seen))
	for _, g := range seen {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b estimate) int { return a.index - b.index })
	return all
}

// estimate plays one segment of a tree through an empty network, and takes it that the others
// follow as fast as the busiest link or rank can: first + (k - 1) pace. Of an algorithm
// in which ranks have several parents it plays two. With many ranks, what is beyond the limit is not played on.
func (s *search) estimate(index, segment int) estimate {
	p, limit := s.problem, s.limit(s.least)
	p.Segment = segment
	k := p.Pieces()
	if k < 2 {
		t, ok := s.predict(index, segment, limit)
		return estimate{index, segment, t, !ok}
	}
	s.coarse = true
	defer func() { s.coarse = false }()
	parts := s.list[index].Prepare(p)
	if _, tree := parts.(*schedule.Tree); !tree {
		t, ok := s.extrapolate(parts, p, 2, limit)
		return estimate{index, segment, t, !ok}
	}
	p.Bytes = p.PieceBytes()
	s.schedule(parts, p)
	first, ok := s.evaluate(limit)
	return estimate{index, segment, first + s.busiest()*float64(k-1), !ok}
}
