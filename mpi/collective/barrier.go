package collective

import "github.com/topocast/topocast/mpi"

// Barrier is collective: it returns on no rank before all ranks have called it.
//
// On messages it is the dissemination barrier (Hensgen, Finkel, Manber 1988): log2(n) rounds for n ranks,
// rounded up. With groups of one size it is one in each group, and then one among ranks of the same place in all groups. Else the
// ranks of each report to the first one along a binomial tree, these meet, and the word goes back along the trees.
func Barrier(comm mpi.Communicator) error {
	c, err := of(comm)
	switch {
	case err != nil:
	case c.barrier != nil && !c.byMessages(barrier, 0):
		err = c.barrier.Barrier()
	default:
		err = c.synchronise()
	}
	return failed("Barrier", err)
}

// synchronise is the barrier on messages.
func (c *Comm) synchronise() error {
	if c.groups == nil {
		return c.disseminate(c.all)
	}
	return c.meet()
}

func (c *Comm) disseminate(t team) error {
	for step := 1; step < t.size; step *= 2 {
		to, from := (t.me+step)%t.size, (t.me-step+t.size)%t.size
		if err := c.exchange(nil, t.rank(to), nil, t.rank(from)); err != nil {
			return err
		}
	}
	return nil
}

// meet is the barrier of all groups.
func (c *Comm) meet() error {
	if c.peers.size > 0 {
		if err := c.disseminate(c.own); err != nil {
			return err
		}
		return c.disseminate(c.peers)
	}
	if _, err := binomialReduce[byte](c, c.own, nil, true, nil); err != nil {
		return err
	}
	if c.own.me == 0 {
		if err := c.disseminate(c.lead()); err != nil {
			return err
		}
	}
	return c.broadcast(c.own, nil)
}

// lead is the team of the first ranks of the groups, of which this rank is one.
func (c *Comm) lead() team { return team{ranks: c.leaders, size: len(c.leaders), me: c.group} }

// leadWith is the team of the leaders with the root as that of its group, and its place among
// them; and this rank's group, turned to its leader.
func (c *Comm) leadWith(root int) (leaders, own team, place int) {
	own = c.own
	for i, g := range c.groups {
		c.chosen[i] = g[0]
		for at, r := range g {
			if r == root {
				c.chosen[i], place = root, i
				if i == c.group {
					own = own.turned(at)
				}
			}
		}
	}
	return team{ranks: c.chosen, size: len(c.chosen), me: c.group}, own, place
}

// broadcast copies buf from place 0 along a binomial tree.
func (c *Comm) broadcast(t team, buf []byte) error {
	step := 1
	for ; step < t.size; step *= 2 {
		if t.me&step != 0 {
			if err := c.recv(buf, t.rank(t.me-step)); err != nil {
				return err
			}
			break
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if t.me+step < t.size {
			if err := c.send(buf, t.rank(t.me+step)); err != nil {
				return err
			}
		}
	}
	return nil
}
