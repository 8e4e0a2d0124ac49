package concurrent

import "github.com/topocast/topocast/model"

// weights are the sizes of Alltoallv, from row to column. Those of Zhu et al. 2014, figure 8,
// are not in its text. These are chosen so that the last of the transfers
// ends when the paper's does, on one switch with 940 Mbit/s and 10 MB per unit: after
// 0.851 s by fair sharing, where two of them send 100 MB, and 1.106 s by the asymmetric property.
var weights = [4][4]int64{
	{0, 1, 1, 3},
	{3, 0, 4, 3},
	{1, 6, 0, 3},
	{1, 1, 5, 0},
}

// Alltoallv is an irregular exchange of four ranks, all messages at once: each
// sends each other between 1 and 6 units of the given size in bytes (Zhu et al.
// 2014, section 7.3; its time is that of the last transfer).
func Alltoallv(ranks [4]int, unit int64) []model.Transfer {
	var pattern []model.Transfer
	for i, row := range weights {
		for j, w := range row {
			if w > 0 {
				pattern = append(pattern, model.Transfer{Src: ranks[i], Dst: ranks[j], Bytes: w * unit})
			}
		}
	}
	return pattern
}
