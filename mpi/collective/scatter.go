package collective

// Scatter is collective: dst of each rank becomes its part of src of rank root, in the order of ranks. len(dst) is equal on all
// ranks, and len(src) on the root is that times the number of ranks. src of other ranks is not looked at.
//
// In the simple algorithm the root sends to every rank.
func Scatter[T comparable](c *Comm, dst, src []T, root int) error {
	err := checkTypeAndRoot[T](c, root)
	if err == nil && c.rank == root {
		err = checkLength("src", len(src), len(dst)*c.size)
	}
	to, from := bytesOf(dst), bytesOf(src)
	switch {
	case err != nil:
	case c.usesNative(len(to) * c.size):
		err = c.native.Scatter(to, from, nil, root)
	default:
		c.src.setEqual(c.size, len(to))
		err = c.scatter(to, from, root)
	}
	return failed("Scatter", err)
}

// Scatterv is Scatter of counts[i] values to rank i, which only the root has to know.
func Scatterv[T comparable](c *Comm, dst, src []T, counts []int, root int) error {
	err := checkTypeAndRoot[T](c, root)
	if err == nil && c.rank == root {
		if err = c.checkCounts("src", len(src), counts, len(dst)); err == nil {
			c.src.set(counts, sizeOf[T]())
		}
	}
	switch {
	case err != nil:
	case c.native != nil:
		err = c.native.Scatter(bytesOf(dst), bytesOf(src), c.src.counts, root)
	default:
		err = c.scatter(bytesOf(dst), bytesOf(src), root)
	}
	return failed("Scatterv", err)
}

// scatter lets the root, which has laid out src, send each rank its block.
func (c *Comm) scatter(dst, src []byte, root int) error {
	if c.rank != root {
		return c.recv(dst, root)
	}
	copy(dst, c.src.block(src, root))
	for rank := range c.size {
		if rank == root {
			continue
		}
		if err := c.send(c.src.block(src, rank), rank); err != nil {
			return err
		}
	}
	return nil
}
