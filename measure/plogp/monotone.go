package plogp

// anotherProtocol is the share of itself by which a gap must fall from one size
// to the next to be no noise: libraries have other protocols for long messages,
// which can be faster.
const anotherProtocol = 0.2

// monotone makes gaps in s that noise lets fall with the size rise: between
// falls that are real, they become the nearest rising ones by least squares (pool
// adjacent violators: Ayer et al. 1955). It changes them in place and returns
// the places before which they really fall. O(n).
func monotone(gaps []float64) (falls []int) {
	start := 0
	for i := 1; i < len(gaps); i++ {
		if gaps[i] < (1-anotherProtocol)*gaps[i-1] {
			rise(gaps[start:i])
			falls, start = append(falls, i), i
		}
	}
	rise(gaps[start:])
	return falls
}

// rise replaces values by the nearest that do not fall, by least squares.
func rise(values []float64) {
	type block struct {
		sum   float64
		count int
	}
	var blocks []block
	for _, v := range values {
		blocks = append(blocks, block{v, 1})
		for k := len(blocks) - 1; k > 0; k-- {
			a, b := &blocks[k-1], blocks[k]
			if a.sum*float64(b.count) <= b.sum*float64(a.count) {
				break
			}
			a.sum += b.sum
			a.count += b.count
			blocks = blocks[:k]
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			values[i] = b.sum / float64(b.count)
			i++
		}
	}
}
