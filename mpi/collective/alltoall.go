package collective

import "fmt"

// Alltoall is collective: part j of src of rank i becomes part i of dst of rank j. Both slices have as many parts of equal length
// as there are ranks.
//
// The simple algorithm exchanges parts with ranks at one distance after the other.
func Alltoall[T comparable](c *Comm, dst, src []T) error {
	err := checkType[T](c)
	if err == nil {
		err = checkLength("dst", len(dst), len(src))
	}
	if err == nil && len(src)%c.size != 0 {
		err = fmt.Errorf("src of %d values: want a multiple of %d, the number of ranks", len(src), c.size)
	}
	to, from := bytesOf(dst), bytesOf(src)
	switch {
	case err != nil:
	case c.usesNative(len(from)):
		err = c.native.Alltoall(to, nil, from, nil)
	default:
		c.dst.setEqual(c.size, len(to)/c.size)
		c.src.setEqual(c.size, len(from)/c.size)
		err = c.alltoall(to, from)
	}
	return failed("Alltoall", err)
}

// Alltoallv is Alltoall of srcCounts[j] values to rank j and dstCounts[i] values from rank i.
func Alltoallv[T comparable](c *Comm, dst []T, dstCounts []int, src []T, srcCounts []int) error {
	err := checkType[T](c)
	if err == nil {
		err = c.checkNumber("src", srcCounts)
	}
	if err == nil {
		err = c.checkCounts("dst", len(dst), dstCounts, srcCounts[c.rank])
	}
	if err == nil {
		err = c.checkCounts("src", len(src), srcCounts, dstCounts[c.rank])
	}
	if err != nil {
		return failed("Alltoallv", err)
	}
	c.dst.set(dstCounts, sizeOf[T]())
	c.src.set(srcCounts, sizeOf[T]())
	if c.native != nil {
		return failed("Alltoallv", c.native.Alltoall(bytesOf(dst), c.dst.counts, bytesOf(src), c.src.counts))
	}
	return failed("Alltoallv", c.alltoall(bytesOf(dst), bytesOf(src)))
}

// alltoall sends to the rank at a distance to the right, and receives from the rank at that distance to the left, for every
// distance.
func (c *Comm) alltoall(dst, src []byte) error {
	copy(c.dst.block(dst, c.rank), c.src.block(src, c.rank))
	for distance := 1; distance < c.size; distance++ {
		to, from := (c.rank+distance)%c.size, (c.rank-distance+c.size)%c.size
		if err := c.exchange(c.src.block(src, to), to, c.dst.block(dst, from), from, tag); err != nil {
			return err
		}
	}
	return nil
}
