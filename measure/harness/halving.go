package harness

// halvingRounds is the number of rounds of the scheme of Bufe 2014, section
// 2.3.2: T(n) = T(ceil(n/2)) + ceil(n/2), equation 2.3. It is n-1 for powers of
// two, and more than the circle takes for all other even numbers.
func halvingRounds(n int) int {
	rounds := 0
	for ; n > 1; n = (n + 1) / 2 {
		rounds += (n + 1) / 2
	}
	return rounds
}

// halvingPartner is the opponent of player p in the given round of Bufe's
// scheme, or -1 if p sits out. All players are a group. Each group is divided into
// a left part of floor(n/2) players and a right one; everybody of the left meets
// everybody of the right, the i-th the (i+t)-th in the t-th round of that; then the
// parts are groups themselves, all of them at once.
func halvingPartner(n, p, round int) int {
	low, size := 0, n // of the group of p
	for longest := n; longest > 1; longest = (longest + 1) / 2 {
		left := size / 2
		right := size - left
		if rounds := (longest + 1) / 2; round >= rounds {
			round -= rounds
			if p < low+left {
				size = left
			} else {
				low, size = low+left, right
			}
			continue
		}
		switch {
		case left == 0 || round >= right: // a group one smaller than others may be done before
			return -1
		case p < low+left:
			return low + left + (p-low+round)%right
		}
		if q := (p - low - left - round + right) % right; q < left {
			return low + q
		}
		return -1
	}
	return -1
}
