package compare

import "github.com/topocast/topocast/topology"

// A Crossing is a group of the reference and a measured one that share hosts, while neither holds
// the other: both cannot be true. A group that is merely missing may only not show in latencies.
type Crossing struct {
	Reference, Measured []int // hosts
}

// crossings lists them in the order of the measured groups. O(total size of the measured groups *
// depth of the reference).
func crossings(measured, reference *topology.Hierarchy) []Crossing {
	groups := reference.Groups()
	common := make([]int, len(groups)) // hosts that a group shares with the measured one
	var crossed []Crossing
	for _, m := range measured.Groups()[1:] {
		var touched []int
		for _, host := range m.Hosts {
			for i := reference.Smallest(host); i > 0; i = groups[i].Parent {
				if common[i] == 0 {
					touched = append(touched, i)
				}
				common[i]++
			}
		}
		for _, i := range touched {
			if common[i] < len(m.Hosts) && common[i] < len(groups[i].Hosts) {
				crossed = append(crossed, Crossing{groups[i].Hosts, m.Hosts})
			}
			common[i] = 0
		}
	}
	return crossed
}
