package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
)

// A GroupComparison says which groups of two hierarchies of the same hosts are
// the same sets.
type GroupComparison struct {
	Same    [][]int // hosts of groups that both have
	Missing [][]int // of the reference only
	Extra   [][]int // of the measured one only
	Crossed []Crossing
	Moved   []int // hosts in other groups than specified, the most often first
}

// A Crossing is a group of the reference and a measured one that share hosts, while neither holds
// the other: both cannot be true. A group that is merely missing may only not show in latencies.
type Crossing struct {
	Reference, Measured []int // hosts
}

// mostlyTheSame is the share of the hosts of either of two groups that are in both, above
// which one stands for the other: above a half no two disjoint groups can.
const mostlyTheSame = 0.5

// Groups compares two trees by their exact groups, levels aside. Hosts
// have the same numbers in both. For each group of the reference that is
// missing, the measured group most like it is looked up; if they share half of
// their hosts or more (Jaccard), the hosts in one of them only have moved. O(total size of the
// measured groups * depth of the reference).
func Groups(measured, reference *topology.Hierarchy) (*GroupComparison, error) {
	if measured.Hosts() != reference.Hosts() {
		return nil, fmt.Errorf("compare: groups: %d hosts measured, %d in the reference", measured.Hosts(), reference.Hosts())
	}
	c := &GroupComparison{}
	groups := reference.Groups()
	common := make([]int, len(groups)) // hosts that a group shares with the measured one
	alike := make([]float64, len(groups))
	most := make([][]int, len(groups)) // the measured group most like it
	for _, m := range distinct(measured) {
		hosts := measured.Groups()[m].Hosts
		var touched []int
		for _, host := range hosts {
			for i := reference.Smallest(host); i > 0; i = groups[i].Parent {
				if common[i]++; common[i] == 1 {
					touched = append(touched, i)
				}
			}
		}
		same := false
		for _, i := range touched {
			shared, size := common[i], len(groups[i].Hosts)
			common[i] = 0
			if shared < len(hosts) && shared < size {
				c.Crossed = append(c.Crossed, Crossing{groups[i].Hosts, hosts})
			}
			jaccard := float64(shared) / float64(len(hosts)+size-shared)
			if jaccard > alike[i] {
				alike[i], most[i] = jaccard, hosts
			}
			same = same || jaccard == 1
		}
		if !same {
			c.Extra = append(c.Extra, hosts)
		}
	}
	votes := make([]int, reference.Hosts())
	for _, i := range distinct(reference) {
		hosts := groups[i].Hosts
		if alike[i] == 1 {
			c.Same = append(c.Same, hosts)
			continue
		}
		c.Missing = append(c.Missing, hosts)
		if alike[i] >= mostlyTheSame {
			for _, h := range slices.Concat(without(hosts, most[i]), without(most[i], hosts)) {
				votes[h]++
			}
		}
	}
	for h, n := range votes {
		if n > 0 {
			c.Moved = append(c.Moved, h)
		}
	}
	slices.SortFunc(c.Moved, func(a, b int) int { return cmp.Or(votes[b]-votes[a], a-b) })
	slices.SortFunc(c.Extra, slices.Compare)
	slices.SortFunc(c.Missing, slices.Compare)
	slices.SortFunc(c.Same, slices.Compare)
	return c, nil
}

// distinct are the numbers of the groups but the root, of equal sets on two levels the coarser one.
func distinct(h *topology.Hierarchy) (numbers []int) {
	groups := h.Groups()
	for i := 1; i < len(groups); i++ {
		if len(groups[i].Hosts) < len(groups[groups[i].Parent].Hosts) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// without are the hosts of one group that are not in another. Both ascend.
func without(hosts, others []int) []int {
	return slices.DeleteFunc(slices.Clone(hosts), func(h int) bool {
		_, in := slices.BinarySearch(others, h)
		return in
	})
}

// compareGroups compares the confident groups of the hosts that both have. Groups that one side has alone are a difference where
// the reference has nothing else. They are one, too, where it has one switch for all hosts, whose links may fit most pairs
// of many racks. A group that is uncertain on the other side is no difference: nobody can tell.
func (c *linkComparer) compareGroups() error {
	if c.settings.MeasuredGroups == nil || c.settings.ReferenceGroups == nil {
		return nil
	}
	measured, measuredOrUncertain, err := contract(c.settings.MeasuredGroups, c.measuredOf)
	if err != nil {
		return err
	}
	reference, referenceOrUncertain, err := contract(c.settings.ReferenceGroups, c.referenceOf)
	if err != nil {
		return err
	}
	decisive := c.groupsOnly || oneSwitch(c.whole)
	if !decisive && (len(measured.Levels()) == 0 || len(reference.Levels()) == 0) {
		return nil
	}
	if c.out.Groups, err = Groups(measured, reference); err != nil || !decisive {
		return err
	}
	list := func(kind Verdict, reason string, groups [][]int, others *topology.Hierarchy) {
		for _, group := range groups {
			var hosts []string
			for _, h := range group {
				hosts = append(hosts, c.out.Hosts[h])
			}
			name := "group " + hostlist.Ranges(hosts)
			if slices.ContainsFunc(others.Groups(), func(g topology.Group) bool { return slices.Equal(g.Hosts, group) }) {
				c.out.Unjudged = append(c.out.Unjudged, name)
				c.out.Warnings = append(c.out.Warnings, name+" is uncertain on one side: its confidence is too low to tell")
				continue
			}
			c.add(Finding{Kind: kind, What: name, Reason: reason, Hosts: hosts, Times: math.NaN()})
		}
	}
	unjudged := len(c.out.Unjudged)
	list(foundMissingGroup, "the reference has it, and it was not measured", c.out.Groups.Missing, measuredOrUncertain)
	list(foundExtraGroup, "it was measured, and the reference does not have it", c.out.Groups.Extra, referenceOrUncertain)
	c.groupsJudged = len(c.out.Unjudged) == unjudged
	return nil
}

// contract returns the confident groups, and all of them, of the hosts of which the ranks are given. A host is in a group if
// more than half of its ranks are.
func contract(h *topology.Hierarchy, ranks [][]int) (confident, all *topology.Hierarchy, err error) {
	host := slices.Repeat([]int{-1}, h.Hosts())
	for i, own := range ranks {
		for _, rank := range own {
			host[rank] = i
		}
	}
	if all, err = h.Contract(host, len(ranks)); err == nil {
		confident, err = h.Confident(topology.ConfidentFrom).Contract(host, len(ranks))
	}
	return confident, all, err
}

// oneSwitch tells whether one switch joins all hosts.
func oneSwitch(g *topology.Graph) bool {
	for h := range g.Hosts() {
		if v := switchOf(g, h); v < 0 || v != switchOf(g, 0) {
			return false
		}
	}
	return g.Hosts() > 0
}
