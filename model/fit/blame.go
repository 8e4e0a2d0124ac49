package fit

import "github.com/topocast/topocast/model/contention"

// blameShare is by how much a link may carry more than a slow transfer and still
// be what held it up.
const blameShare = 1.15

// blamed tells which links hold up the transfers that were slower than is usual
// between their levels: the fewest links that explain them all, chosen greedily,
// the one that explains the most first. A link explains a transfer if it lies on its path and
// no transfer alone went over it much faster. Of links that explain as much, all
// of the coarsest level are blamed: those of hosts are mostly crossed by
// transfers of their own level, too, which would be slow.
//
// Without it one slow uplink makes a slow link of each host that was timed only
// across it.
func (f *fitter) blamed(slow []*contention.Flow, rates []float64, fastest []float64, level []int) []bool {
	of := make([]int, len(f.links)) // level
	for arc, l := range f.linkOf {
		of[l] = level[arc]
	}
	suspects := make([][]int, len(slow)) // links of each transfer
	counts := make([]int, len(f.links))
	for i, j := range slow {
		seen := make(map[int]bool)
		for _, c := range j.Data {
			if l := f.linkOf[c]; !seen[l] && fastest[l] <= blameShare*rates[i] {
				seen[l] = true
				suspects[i] = append(suspects[i], l)
				counts[l]++
			}
		}
	}
	blamed := make([]bool, len(f.links))
	for {
		most, coarsest := 0, 0
		for l, n := range counts {
			switch {
			case n > most:
				most, coarsest = n, of[l]
			case n == most && n > 0:
				coarsest = max(coarsest, of[l])
			}
		}
		if most == 0 {
			return blamed
		}
		var guilty []int
		for l, n := range counts {
			if n == most && of[l] == coarsest {
				guilty = append(guilty, l)
				blamed[l] = true
			}
		}
		for i, links := range suspects {
			explained := false
			for _, l := range links {
				for _, g := range guilty {
					explained = explained || l == g
				}
			}
			if explained {
				for _, l := range links {
					counts[l]--
				}
				suspects[i] = nil
			}
		}
	}
}
