package topology

import "fmt"

// Contract is the hierarchy of the nodes on which the hosts run: of machines, where the hosts of
// the graph are their cores or ranks. Host i is part of node[i], in [0, nodes), or is left out if
// that is negative. A node is in a group if more than half of its hosts are, so that groups nest
// as they did; groups that are left with one node, or with all, are dropped, and of nested groups
// of the same nodes the finer one. O(total size of the groups).
func (h *Hierarchy) Contract(node []int, nodes int) (*Hierarchy, error) {
	if len(node) != h.hosts || nodes < 0 {
		return nil, fmt.Errorf("topology: contract: the nodes of %d hosts, %d nodes: want those of %d hosts", len(node), nodes, h.hosts)
	}
	hosts := make([]int, nodes)
	for i, k := range node {
		if k >= nodes {
			return nil, fmt.Errorf("topology: contract: host %d on node %d: want below %d", i, k, nodes)
		}
		if k >= 0 {
			hosts[k]++
		}
	}
	size := make([]int, len(h.groups)) // of the groups that stay
	var groups []Group
	for i, g := range h.groups {
		if i == 0 {
			size[i] = nodes
			continue
		}
		in := map[int]int{} // hosts of a node that are in the group
		for _, host := range g.Hosts {
			if k := node[host]; k >= 0 {
				in[k]++
			}
		}
		var members []int // NewHierarchy sorts them
		for k, count := range in {
			if 2*count > hosts[k] {
				members = append(members, k)
			}
		}
		size[i] = len(members)
		if len(members) < 2 || len(members) == size[g.Parent] {
			continue
		}
		g.Hosts = members
		groups = append(groups, g)
	}
	contracted, err := NewHierarchy(nodes, keepLevels(h.levels, groups, nil), groups, h.groups[0].Latency)
	if err != nil {
		return nil, fmt.Errorf("topology: contract: %w", err)
	}
	return contracted, nil
}
