// Package truth has the groups of ranks that are known without a measurement: from the names of hosts, from
// NUMA nodes and from a network file. Reinfjell 2023, sections 3.2 and 5.3, holds clusterings against them.
package truth

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
)

// Levels of a machine, as Reinfjell 2023 has them (section 3.2).
const (
	Machine = "machine"
	Node    = "node"
	Socket  = "socket"
)

// A Level is one level of the groups that there are.
type Level struct {
	Name   string
	Labels cluster.Labels // the group of each rank
}

// OfHosts are the machines and nodes that hosts' names tell: a machine is all hosts of one name but for
// the last number, as Reinfjell 2023 has it, section 5.3: c48-8 and c48-9 are of c48.
func OfHosts(job *record.Header) []Level {
	machines := make([]string, job.Ranks)
	for rank, host := range job.Hosts {
		name, _, _ := strings.Cut(host, ".") // without the domain
		machines[rank] = strings.TrimRight(strings.TrimRight(name, "0123456789"), "-_.")
	}
	return []Level{{Name: Machine, Labels: Number(machines)}, {Name: Node, Labels: Number(job.Hosts)}}
}

// OfNUMA takes NUMA nodes for sockets; nil: they are not known of all ranks.
func OfNUMA(job *record.Header) []Level {
	if job.NUMA == nil || slices.Contains(job.NUMA, -1) {
		return nil
	}
	sockets := make([]string, job.Ranks)
	for rank, node := range job.NUMA {
		sockets[rank] = fmt.Sprintf("%s/%d", job.Hosts[rank], node)
	}
	return []Level{{Name: Socket, Labels: Number(sockets)}}
}

// OfHwloc are the sockets that an XML of lstopo tells by the ranks' cores. It is true of all hosts.
func OfHwloc(data []byte, job *record.Header) ([]Level, error) {
	h, cpus, err := encode.ReadHwloc(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	socketOf := make([]int, len(cpus)) // 0: a host of one socket
	for i, g := range h.Groups() {
		if g.Level < len(h.Levels()) && h.Levels()[g.Level].Kind == topology.KindSocket {
			for _, thread := range g.Hosts {
				socketOf[thread] = i
			}
		}
	}
	sockets := make([]string, job.Ranks)
	for rank, core := range job.Cores {
		thread, ok := slices.BinarySearch(cpus, core)
		if !ok {
			return nil, fmt.Errorf("has no core %d, at which rank %d is (-1: not bound)", core, rank)
		}
		sockets[rank] = fmt.Sprintf("%s/%d", job.Hosts[rank], socketOf[thread])
	}
	return []Level{{Name: Socket, Labels: Number(sockets)}}, nil
}

// OfHierarchy are the levels of a hierarchy, from coarse to fine.
func OfHierarchy(h *topology.Hierarchy) []Level {
	var levels []Level
	cuts := Cuts(h)
	for l := len(h.Levels()) - 1; l >= 0; l-- {
		name := h.LevelName(l)
		switch h.Levels()[l].Kind {
		case topology.KindSwitch:
			name = Machine
		case topology.KindHost:
			name = Node
		case topology.KindSocket:
			name = Socket
		}
		levels = append(levels, Level{Name: name, Labels: cuts[l]})
	}
	return levels
}

// Number numbers names in the order of their first appearance.
func Number(names []string) cluster.Labels {
	number := make(map[string]int)
	labels := make(cluster.Labels, len(names))
	for i, name := range names {
		if _, known := number[name]; !known {
			number[name] = len(number)
		}
		labels[i] = number[name]
	}
	return labels
}
