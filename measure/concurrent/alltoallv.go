package concurrent

import "github.com/topocast/topocast/model"

// weights are the sizes of Alltoallv, from row to column. Those of Zhu et al. 2014, figure 8,
// are not in its text. These are chosen so that the last of the transfers
// ends when the paper's does. On one switch with 940 Mbit/s and 10 MB per unit two of them send
// 100 MB. That takes 0.851 s by fair sharing, and 1.106 s by the asymmetric property.
var weights = [4][4]int64{
	{0, 1, 1, 3},
	{3, 0, 4, 3},
	{1, 6, 0, 3},
	{1, 1, 5, 0},
}

// Alltoallv is an irregular exchange of four hosts, all messages at once: each
// sends each other between 1 and 6 units of the given size in bytes (Zhu et al.
// 2014, section 7.3; its time is that of the last transfer). The ranks of a host take turns; with two
// of each no two ranks have messages for each other both ways, which libraries may
// serve one after the other.
func Alltoallv(ranksOf [4][]int, unit int64) []model.Transfer {
	p := newPlaces(ranksOf[:])
	var pattern []model.Transfer
	for i, row := range weights {
		for j, w := range row {
			if w > 0 {
				t, _ := p.place(model.Transfer{Src: i, Dst: j, Bytes: w * unit})
				pattern = append(pattern, t)
			}
		}
	}
	return pattern
}
