package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model"
)

// ByTraffic places ranks by who talks to whom. It starts from three mappings: the ranks in order, by Servet's rules, and built
// greedily. From the best of these it exchanges ranks as long as that lowers the cost: each rank with each other, and with
// each free place. Of up to 128 ranks on as many places it does so from all three, and takes the best. Of mappings
// that cost the same it takes the first. The zero value works.
type ByTraffic struct {
	// PerHost is how many ranks a host gets at most, see RanksPerHost. They are then on the places that Servet chooses.
	// 0: as many as it has places.
	PerHost int
}

const (
	// mostPasses bounds the passes over all exchanges.
	mostPasses = 20
	// fewExchanges is how many exchanges a pass tries at most for it to be made from three mappings, which takes six times as long.
	fewExchanges = 128 * 128
)

// peer is one neighbour in the traffic: messages of the given sizes in bytes,
// 0 for none.
type peer struct {
	rank     int
	out, in  int64
	together int64
}

// Cost is the sum in s of the times that the messages of the traffic take
// alone: cell (i, j) is the bytes from rank i to rank j, one message. Cells
// of 0 and the diagonal do not count.
func Cost(n *model.Network, traffic mat.Matrix, place []int) (float64, error) {
	peers, err := peersOf(n, traffic)
	if err != nil {
		return 0, err
	}
	if err := check(n, place, len(peers)); err != nil {
		return 0, err
	}
	return cost(n, peers, place), nil
}

func check(n *model.Network, place []int, ranks int) error {
	if len(place) != ranks {
		return fmt.Errorf("placement: %d places for %d ranks", len(place), ranks)
	}
	taken := make([]bool, n.Ranks())
	for r, p := range place {
		if p < 0 || p >= n.Ranks() || taken[p] {
			return fmt.Errorf("placement: place of rank %d is %d: want each in [0, %d) at most once", r, p, n.Ranks())
		}
		taken[p] = true
	}
	return nil
}

// peersOf reads the traffic into lists of neighbours.
func peersOf(n *model.Network, traffic mat.Matrix) ([][]peer, error) {
	rows, cols := traffic.Dims()
	if rows != cols || rows > n.Ranks() {
		return nil, fmt.Errorf("placement: traffic of %d x %d: want square, of at most %d ranks", rows, cols, n.Ranks())
	}
	peers := make([][]peer, rows)
	for i := range rows {
		for j := range cols {
			x, y := traffic.At(i, j), traffic.At(j, i)
			if !(x >= 0) || x > math.MaxInt64/4 {
				return nil, fmt.Errorf("placement: traffic (%d,%d) is %g bytes: want at least 0 and finite", i, j, x)
			}
			if i != j && (x > 0 || y > 0) {
				peers[i] = append(peers[i], peer{j, int64(x), int64(y), int64(x + y)})
			}
		}
	}
	return peers, nil
}

// pairCost is the time in s of a rank at place a and its peer at place b.
func pairCost(n *model.Network, p peer, a, b int) float64 {
	c := 0.0
	if p.out > 0 {
		c += n.Time(a, b, p.out)
	}
	if p.in > 0 {
		c += n.Time(b, a, p.in)
	}
	return c
}

func cost(n *model.Network, peers [][]peer, place []int) float64 {
	sum := 0.0
	for r, list := range peers {
		for _, p := range list {
			if p.out > 0 {
				sum += n.Time(place[r], place[p.rank], p.out)
			}
		}
	}
	return sum
}

// Place maps the ranks of a traffic matrix (see Cost) to places. It is an
// error if the times that it needs are not known. O(ranks * places * degree) per
// pass, for ranks that talk to degree others.
func (t ByTraffic) Place(n *model.Network, traffic mat.Matrix) ([]int, error) {
	if t.PerHost > 0 {
		return t.placeAmong(n, traffic)
	}
	peers, err := peersOf(n, traffic)
	if err != nil {
		return nil, err
	}
	if len(peers) == 0 {
		return []int{}, nil
	}
	inOrder := make([]int, len(peers))
	for r := range inOrder {
		inOrder[r] = r
	}
	servet, err := Servet{}.Place(n, len(peers))
	if err != nil {
		return nil, err
	}
	if c := cost(n, peers, inOrder); math.IsNaN(c) || math.IsInf(c, 0) {
		return nil, fmt.Errorf("placement: by traffic: the network does not know the times of all messages: %g s in order", c)
	}
	byCost := func(a, b []int) int { return cmp.Compare(cost(n, peers, a), cost(n, peers, b)) }
	mappings := [][]int{inOrder, servet, greedy(n, peers)}
	slices.SortStableFunc(mappings, byCost)
	if len(peers)*n.Ranks() > fewExchanges {
		mappings = mappings[:1]
	}
	for _, place := range mappings {
		exchange(n, peers, place)
	}
	return slices.MinFunc(mappings, byCost), nil
}

// placeAmong is Place with a bound per host.
func (t ByTraffic) placeAmong(n *model.Network, traffic mat.Matrix) ([]int, error) {
	ranks, _ := traffic.Dims()
	chosen, err := Servet{PerHost: t.PerHost}.Place(n, ranks)
	if err != nil {
		return nil, err
	}
	var at []model.Location
	for _, p := range chosen {
		at = append(at, n.Location(p))
	}
	part, err := n.View(at)
	if err != nil {
		return nil, err
	}
	place, err := ByTraffic{}.Place(part, traffic)
	for rank, p := range place {
		place[rank] = chosen[p]
	}
	return place, err
}

// greedy places the rank with the most traffic to those placed, the first one
// with the most in all, where it costs least; ties go to the lower rank and place.
func greedy(n *model.Network, peers [][]peer) []int {
	place := make([]int, len(peers))
	attached := make([]int64, len(peers)) // bytes to ranks that are placed
	total := make([]int64, len(peers))
	for r, list := range peers {
		place[r] = -1
		for _, p := range list {
			total[r] += p.together
		}
	}
	taken := make([]bool, n.Ranks())
	for range peers {
		next := -1
		for r := range peers {
			if place[r] < 0 && (next < 0 || attached[r] > attached[next] || attached[r] == attached[next] && total[r] > total[next]) {
				next = r
			}
		}
		best, least := -1, math.Inf(1)
		for at := range taken {
			if taken[at] {
				continue
			}
			c := 0.0
			for _, p := range peers[next] {
				if place[p.rank] >= 0 {
					c += pairCost(n, p, at, place[p.rank])
				}
			}
			if best < 0 || c < least*(1-1e-12) {
				best, least = at, c
			}
		}
		place[next], taken[best] = best, true
		for _, p := range peers[next] {
			attached[p.rank] += p.together
		}
	}
	return place
}

// exchange lowers the cost by exchanging the contents of two places until no
// exchange gains, or mostPasses are done.
func exchange(n *model.Network, peers [][]peer, place []int) {
	holder := make([]int, n.Ranks()) // place -> rank, or -1
	for i := range holder {
		holder[i] = -1
	}
	for r, at := range place {
		holder[at] = r
	}
	// swap exchanges the contents of two places.
	swap := func(a, b int) {
		holder[a], holder[b] = holder[b], holder[a]
		for _, at := range [...]int{a, b} {
			if r := holder[at]; r >= 0 {
				place[r] = at
			}
		}
	}
	// around is the cost of a rank's messages, but for those with one other; 0 for no rank.
	around := func(r, except int) float64 {
		c := 0.0
		if r < 0 {
			return c
		}
		for _, p := range peers[r] {
			if p.rank != except {
				c += pairCost(n, p, place[r], place[p.rank])
			}
		}
		return c
	}
	for range mostPasses {
		gained := false
		for r := range place {
			for to := range holder {
				from, other := place[r], holder[to]
				if to == from || other >= 0 && other < r {
					continue
				}
				before := around(r, -1) + around(other, r)
				swap(from, to)
				if around(r, -1)+around(other, r) < before*(1-1e-9) {
					gained = true
				} else {
					swap(from, to)
				}
			}
		}
		if !gained {
			return
		}
	}
}
