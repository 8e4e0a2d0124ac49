package fit

import "slices"

// blameShare is by how much a link may carry more than a slow transfer and still
// be what held it up.
const blameShare = 1.15

// blamed tells which links hold up transfers that were slower than is usual between their levels. These are the fewest
// links that explain all such transfers, chosen greedily. A link explains a transfer if it lies on its path and no
// transfer alone went over it much faster.
//
// Without it one slow uplink makes a slow link of each host that was timed only
// across it.
func (f *fitter) blamed(slow []loneTransfer, fastest []float64) []bool {
	suspects := make([][]int, len(slow)) // links of each transfer that is not yet explained
	counts := make([]int, len(f.links))  // of these transfers
	for i, x := range slow {
		for _, c := range x.flow.Data {
			if l := f.linkOf[c]; fastest[l] <= blameShare*x.rate {
				suspects[i] = append(suspects[i], l)
				counts[l]++
			}
		}
	}
	blamed := make([]bool, len(f.links))
	for {
		most := slices.Max(append(counts, 0))
		if most == 0 {
			return blamed
		}
		for l, n := range counts {
			blamed[l] = blamed[l] || n == most
		}
		for i, links := range suspects {
			if slices.ContainsFunc(links, func(l int) bool { return blamed[l] }) {
				for _, l := range links {
					counts[l]--
				}
				suspects[i] = nil
			}
		}
	}
}
