package collective

// A team are the ranks that take part in (a stage of) a collective, by their places 0..size-1.
type team struct {
	ranks []int // by place, before it is turned; nil: the place is the rank
	size  int
	me    int // the place of this rank
	shift int // how far it is turned
}

// rank is the rank at a place.
func (t *team) rank(place int) int {
	place += t.shift
	if place >= t.size {
		place -= t.size
	}
	if t.ranks == nil {
		return place
	}
	return t.ranks[place]
}

// turned is the team with the given place, of a team that is not turned, as its place 0.
func (t team) turned(place int) team {
	t.shift = place
	t.me -= place
	if t.me < 0 {
		t.me += t.size
	}
	return t
}

// rounds is the least k with 2^k at least the size.
func (t *team) rounds() int {
	k := 0
	for 1<<k < t.size {
		k++
	}
	return k
}

// A core are 2^k places of a team, to which recursive halving and doubling need it
// folded: each of the first 2*over places of odd number leaves its part to the one before.
type core struct {
	team
	count int // 2^k
	over  int // places beyond that
	id    int // of this rank in the core; -1: it has left its part to another one
}

func (t team) core() core {
	count := 1
	for 2*count <= t.size {
		count *= 2
	}
	c := core{team: t, count: count, over: t.size - count}
	switch {
	case t.me >= 2*c.over:
		c.id = t.me - c.over
	case t.me%2 == 0:
		c.id = t.me / 2
	default:
		c.id = -1
	}
	return c
}

// partner is the rank of a member of the core.
func (c *core) partner(id int) int {
	if id < c.over {
		return c.rank(2 * id)
	}
	return c.rank(id + c.over)
}

// folded tells whether this rank has to do with folding.
func (c *core) folded() bool { return c.me < 2*c.over }

// part is where the i-th of m nearly equal parts of n elements begins.
func part(i, m, n int) int {
	// i*n would not overflow below 2^63; n/m first keeps it small all the same.
	return n/m*i + n%m*i/m
}
