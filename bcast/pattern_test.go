package bcast_test

// fill writes a pattern, or its complement, in which every byte differs.
func fill(buf []byte, pattern uint64, itself bool) {
	flip := byte(0xff)
	if itself {
		flip = 0
	}
	for i := range buf {
		buf[i] = patternByte(pattern, i) ^ flip
	}
}

// matches tells whether buf holds the pattern.
func matches(buf []byte, pattern uint64) bool {
	for i := range buf {
		if buf[i] != patternByte(pattern, i) {
			return false
		}
	}
	return true
}

// patternByte is a multiplicative hash, so that a shifted or stale piece does not match.
func patternByte(pattern uint64, i int) byte {
	x := (pattern + uint64(i)) * 0x9e3779b97f4a7c15
	return byte(x>>56) ^ byte(x>>29)
}
