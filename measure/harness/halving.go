package harness

// halving is the scheme of Bufe 2014, section 2.3.2: rounds of disjoint pairs in which all players meet. They are divided into
// a left part of floor(n/2) players and a right one. Everybody of the left meets
// everybody of the right, the i-th the (i+t)-th in the t-th round of that. Then the
// parts are groups themselves, both at once.
//
// It takes T(n) = T(ceil(n/2)) + ceil(n/2) rounds, equation 2.3. That is n-1 for powers of
// two, and more than the circle takes for all other even numbers.
func halving(players []int) (rounds [][][2]int) {
	if len(players) < 2 {
		return nil
	}
	left, right := players[:len(players)/2], players[len(players)/2:]
	for t := range right {
		var round [][2]int
		for i, a := range left {
			round = append(round, [2]int{a, right[(i+t)%len(right)]})
		}
		rounds = append(rounds, round)
	}
	inside := halving(right) // no shorter than the other part's
	for k, round := range halving(left) {
		inside[k] = append(inside[k], round...)
	}
	return append(rounds, inside...)
}
