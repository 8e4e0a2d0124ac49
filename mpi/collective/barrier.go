package collective

// Barrier is collective: it returns on no rank before all ranks have called it.
//
// The simple algorithm is the dissemination barrier (Hensgen, Finkel, Manber 1988), which takes log2(n) rounds for n ranks,
// rounded up.
func Barrier(c *Comm) error {
	if c.native != nil {
		return failed("Barrier", c.native.Barrier())
	}
	return failed("Barrier", c.disseminate())
}

// disseminate lets each rank hear, directly or not, of twice as many ranks in each round.
func (c *Comm) disseminate() error {
	for step := 1; step < c.size; step *= 2 {
		to, from := (c.rank+step)%c.size, (c.rank-step+c.size)%c.size
		if err := c.exchange(nil, to, nil, from, tag); err != nil {
			return err
		}
	}
	return nil
}
