package harness

// circleRounds is the number of rounds in which n players meet each other
// once: n-1 for even n and n for odd n, the least possible.
func circleRounds(n int) int {
	if n < 2 {
		return 0
	}
	return n - 1 + n%2
}

// CircleOf is the circle of given players: rounds of disjoint pairs in which everybody meets everybody.
func CircleOf(players []int) [][][2]int {
	rounds := make([][][2]int, circleRounds(len(players)))
	for r := range rounds {
		for p, a := range players {
			if q := circlePartner(len(players), p, r); q > p {
				rounds[r] = append(rounds[r], [2]int{min(a, players[q]), max(a, players[q])})
			}
		}
	}
	return rounds
}

// circlePartner is the opponent of player p in the given round of the circle
// method, or -1 if p sits out. Players p and q other than the last meet in round
// p+q mod (n-1); the last one of an even number meets whoever would meet
// himself (Lucas 1883, after Walecki).
func circlePartner(n, p, round int) int {
	even := n + n%2 // with a phantom as last player if n is odd
	m := even - 1
	var q int
	if p == even-1 {
		// 2q = round mod m, and m is odd: the inverse of 2 is even/2.
		q = round * (even / 2) % m
	} else {
		q = ((round-p)%m + m) % m
		if q == p {
			q = even - 1
		}
	}
	if q >= n {
		return -1
	}
	return q
}
