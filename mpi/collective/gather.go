package collective

// Gather is collective: dst of rank root becomes the values of all ranks, in the order of ranks. len(src) is equal on all
// ranks, and len(dst) on the root is that times the number of ranks. dst of other ranks is not looked at.
//
// In the simple algorithm every rank sends to the root.
func Gather[T comparable](c *Comm, dst, src []T, root int) error {
	err := checkTypeAndRoot[T](c, root)
	if err == nil && c.rank == root {
		err = checkLength("dst", len(dst), len(src)*c.size)
	}
	to, from := bytesOf(dst), bytesOf(src)
	switch {
	case err != nil:
	case c.usesNative(len(from) * c.size):
		err = c.native.Gather(to, nil, from, root)
	default:
		c.dst.setEqual(c.size, len(from))
		err = c.gather(to, from, root)
	}
	return failed("Gather", err)
}

// Gatherv is Gather of counts[i] values of rank i, which only the root has to know.
func Gatherv[T comparable](c *Comm, dst []T, counts []int, src []T, root int) error {
	err := checkTypeAndRoot[T](c, root)
	if err == nil && c.rank == root {
		if err = c.checkCounts("dst", len(dst), counts, len(src)); err == nil {
			c.dst.set(counts, sizeOf[T]())
		}
	}
	switch {
	case err != nil:
	case c.native != nil:
		err = c.native.Gather(bytesOf(dst), c.dst.counts, bytesOf(src), root)
	default:
		err = c.gather(bytesOf(dst), bytesOf(src), root)
	}
	return failed("Gatherv", err)
}

// gather lets every rank send its block to the root, which has laid out dst.
func (c *Comm) gather(dst, src []byte, root int) error {
	if c.rank != root {
		return c.send(src, root)
	}
	copy(c.dst.block(dst, root), src)
	for rank := range c.size {
		if rank == root {
			continue
		}
		if err := c.recv(c.dst.block(dst, rank), rank); err != nil {
			return err
		}
	}
	return nil
}
