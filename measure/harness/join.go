package harness

import (
	"cmp"
	"slices"
)

// A join is the schedule of one group: every two of its members that are not in
// the same part of it meet once. Parts are the smaller groups in it, and each
// member that is in none.
//
// With parts of equal size, k of g members, the circle of the parts takes
// (k-1)g rounds, the least possible: when two parts meet, the i-th of one meets the
// (i+t)-th of the other. Unequal parts wait for the largest; where that takes
// longer than the circle of all members, in which those of one part sit out,
// it is that.
type join struct {
	scheme Scheme
	size   int
	parts  []int // by place: number of its part, those of one part next to each other
	first  []int // by part: place of its first member; and the end
	starts []int // by round of the parts: the first round of it, and the end; nil: all members by the scheme
}

// newJoin makes the schedule of parts of the given sizes, in descending order.
func newJoin(scheme Scheme, sizes []int) *join {
	j := &join{scheme: scheme, first: make([]int, 1, len(sizes)+1)}
	for part, size := range sizes {
		for range size {
			j.parts = append(j.parts, part)
		}
		j.size += size
		j.first = append(j.first, j.size)
	}
	if scheme != Circle || len(sizes) == 0 || sizes[0] == 1 {
		return j
	}
	starts := []int{0}
	total := 0
	for round := range CircleRounds(len(sizes)) {
		longest := 0
		for part, size := range sizes { // the larger part of a pair says how long it takes
			if CirclePartner(len(sizes), part, round) >= 0 {
				longest = max(longest, size)
				break // they descend
			}
		}
		total += longest
		starts = append(starts, total)
	}
	if total < CircleRounds(j.size) {
		j.starts = starts
	}
	return j
}

// rounds is their number.
func (j *join) rounds() int {
	switch {
	case j.starts != nil:
		return j.starts[len(j.starts)-1]
	case j.scheme == Halving:
		return halvingRounds(j.size)
	}
	return CircleRounds(j.size)
}

// partner is the place that meets the one at the given place, or -1.
func (j *join) partner(place, round int) int {
	if j.starts != nil {
		return j.across(place, round)
	}
	var q int
	if j.scheme == Halving {
		q = halvingPartner(j.size, place, round)
	} else {
		q = CirclePartner(j.size, place, round)
	}
	if q >= 0 && j.parts[q] == j.parts[place] {
		return -1
	}
	return q
}

// across is the partner when parts meet.
func (j *join) across(place, round int) int {
	super, isStart := slices.BinarySearch(j.starts, round)
	if !isStart {
		super--
	}
	own := j.parts[place]
	other := CirclePartner(len(j.first)-1, own, super)
	if other < 0 {
		return -1
	}
	t, i := round-j.starts[super], place-j.first[own]
	size, others := j.first[own+1]-j.first[own], j.first[other+1]-j.first[other]
	if t >= max(size, others) {
		return -1
	}
	if own < other { // at least as large
		if i = (i - t + size) % size; i >= others {
			return -1
		}
		return j.first[other] + i
	}
	return j.first[other] + (i+t)%others
}

// pairs is how many there are in all rounds.
func (j *join) pairs() int {
	count := j.size * (j.size - 1) / 2
	for part := range len(j.first) - 1 {
		size := j.first[part+1] - j.first[part]
		count -= size * (size - 1) / 2
	}
	return count
}

// turnOf returns the number of the pair of the given place among the pairs of a round, and how many
// there are. Pairs are in the order of their lower places.
func (j *join) turnOf(place, round int) (own, count int) {
	own = -1
	for p := range j.size {
		q := j.partner(p, round)
		if q < p {
			continue
		}
		if p == place || q == place {
			own = count
		}
		count++
	}
	return own, count
}

// seat orders parts for a join: the largest comes first, and of equal ones the one with the
// lowest label. It orders the members of each part by label.
func seat(parts [][]int, label []int) []int {
	byLabel := func(a, b int) int { return label[a] - label[b] }
	for _, part := range parts {
		slices.SortFunc(part, byLabel)
	}
	slices.SortFunc(parts, func(a, b []int) int {
		return cmp.Or(len(b)-len(a), byLabel(a[0], b[0]))
	})
	return slices.Concat(parts...)
}
