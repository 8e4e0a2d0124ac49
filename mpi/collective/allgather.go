package collective

// Allgather is collective: dst of all ranks becomes the values of all ranks, in the order of ranks. len(src) is equal on all
// ranks, and len(dst) is that times the number of ranks. src may be the rank's part of dst.
//
// The simple algorithm is a ring.
func Allgather[T comparable](c *Comm, dst, src []T) error {
	err := checkType[T](c)
	if err == nil {
		err = checkLength("dst", len(dst), len(src)*c.size)
	}
	to, from := bytesOf(dst), bytesOf(src)
	switch {
	case err != nil:
	case c.usesNative(len(to)):
		err = c.native.Allgather(to, nil, from)
	default:
		c.dst.setEqual(c.size, len(from))
		err = c.allgather(to, from)
	}
	return failed("Allgather", err)
}

// Allgatherv is Allgather of counts[i] values of rank i. Counts are equal on all ranks.
func Allgatherv[T comparable](c *Comm, dst []T, counts []int, src []T) error {
	err := checkType[T](c)
	if err == nil {
		err = c.checkCounts("dst", len(dst), counts, len(src))
	}
	if err != nil {
		return failed("Allgatherv", err)
	}
	c.dst.set(counts, sizeOf[T]())
	to, from := bytesOf(dst), bytesOf(src)
	if c.usesNative(len(to)) {
		return failed("Allgatherv", c.native.Allgather(to, c.dst.counts, from))
	}
	return failed("Allgatherv", c.allgather(to, from))
}

// allgather sends the blocks around the ring: each rank passes on the block that it got last.
func (c *Comm) allgather(dst, src []byte) error {
	copy(c.dst.block(dst, c.rank), src)
	right, left := (c.rank+1)%c.size, (c.rank-1+c.size)%c.size
	for step := range c.size - 1 {
		last, next := (c.rank-step+c.size)%c.size, (left-step+c.size)%c.size
		if err := c.exchange(c.dst.block(dst, last), right, c.dst.block(dst, next), left, tag); err != nil {
			return err
		}
	}
	return nil
}
