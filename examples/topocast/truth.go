package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
)

// metadata stands for a file of --truth: what the readings themselves say of the ranks.
const metadata = "metadata"

// Levels of a machine, as Reinfjell 2023 has them (section 3.2).
const (
	levelMachine = "machine"
	levelNode    = "node"
	levelSocket  = "socket"
)

// A truthLevel is one level of the groups that there are.
type truthLevel struct {
	name   string
	labels cluster.Labels
}

// truthLevels are known groups of the ranks, from coarse to fine.
type truthLevels struct {
	levels []truthLevel
	groups [][]int  // of all levels, of two ranks or more and not of all
	notes  []string // what is not known
}

// readTruth reads the groups that there are from a file, or from the metadata of the readings.
func (l *latencies) readTruth(path string) (*truthLevels, error) {
	if path == metadata {
		if l.job == nil {
			return nil, badInput("--truth %s: a plain matrix has none: want a file of groups", metadata)
		}
		return truthOf(nodeLevels(l.job), numaLevel(l.job)), nil
	}
	data, err := readInput(path)
	if err != nil {
		return nil, badInput("--truth: %w", err)
	}
	if isHwloc(data) {
		if l.job == nil {
			return nil, badInput("--truth: %s: is of the cores of a host, and nobody knows those of a plain matrix", path)
		}
		socket, err := socketLevel(data, l.job)
		if err != nil {
			return nil, badInput("--truth: %s: %w", path, err)
		}
		return truthOf(nodeLevels(l.job), socket), nil
	}
	n, err := networkOf(path, data, l.hostNames())
	if err != nil {
		return nil, badInput("--truth: %w", err)
	}
	ranks, _ := l.matrices[0].Dims()
	if n.Ranks() != ranks {
		return nil, badInput("--truth: %s: is of %s, and the readings of %d", path, words.Count(n.Ranks(), "rank"), ranks)
	}
	t := truthOf(hierarchyLevels(n.ReportedHierarchy()))
	if len(t.levels) == 0 {
		return nil, badInput("--truth: %s: holds no groups", path)
	}
	return t, nil
}

// truthOf puts levels together, those without ranks left out.
func truthOf(parts ...[]truthLevel) *truthLevels {
	var t truthLevels
	for _, l := range slices.Concat(parts...) {
		t.levels = append(t.levels, l)
		for _, g := range l.labels.Groups() {
			if len(g) > 1 && len(g) < len(l.labels) {
				t.groups = append(t.groups, g)
			}
		}
	}
	if !slices.ContainsFunc(t.levels, func(l truthLevel) bool { return l.name == levelSocket }) &&
		slices.ContainsFunc(t.levels, func(l truthLevel) bool { return l.name == levelNode }) {
		t.notes = append(t.notes, "sockets are not known: --truth with XML of lstopo tells them")
	}
	return &t
}

// nodeLevels are the machines and nodes that hosts' names tell: a machine is all hosts of one name but for
// the last number, as Reinfjell 2023 has it, section 5.3: c48-8 and c48-9 are of c48.
func nodeLevels(job *record.Header) []truthLevel {
	machines := make([]string, job.Ranks)
	for rank, host := range job.Hosts {
		name, _, _ := strings.Cut(host, ".") // without the domain
		machines[rank] = strings.TrimRight(strings.TrimRight(name, "0123456789"), "-_.")
	}
	return []truthLevel{{levelMachine, labelled(machines)}, {levelNode, labelled(job.Hosts)}}
}

// numaLevel takes NUMA nodes for sockets; nil: they are not known of all ranks.
func numaLevel(job *record.Header) []truthLevel {
	if job.NUMA == nil || slices.Contains(job.NUMA, -1) {
		return nil
	}
	sockets := make([]string, job.Ranks)
	for rank, node := range job.NUMA {
		sockets[rank] = fmt.Sprintf("%s/%d", job.Hosts[rank], node)
	}
	return []truthLevel{{levelSocket, labelled(sockets)}}
}

// socketLevel finds each rank's core in an XML of lstopo, which is true of all hosts.
func socketLevel(data []byte, job *record.Header) ([]truthLevel, error) {
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
	return []truthLevel{{levelSocket, labelled(sockets)}}, nil
}

// hierarchyLevels are the levels of a hierarchy, from coarse to fine.
func hierarchyLevels(h *topology.Hierarchy) []truthLevel {
	var levels []truthLevel
	cuts := cluster.Cuts(h)
	for l := len(h.Levels()) - 1; l >= 0; l-- {
		name := h.LevelName(l)
		switch h.Levels()[l].Kind {
		case topology.KindSwitch:
			name = levelMachine
		case topology.KindHost:
			name = levelNode
		case topology.KindSocket:
			name = levelSocket
		}
		levels = append(levels, truthLevel{name, cuts[l]})
	}
	return levels
}

// labelled numbers names in the order of their first appearance.
func labelled(names []string) cluster.Labels {
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

// print holds the groups that were found against those that there are: of nested groups, for each level the cut
// that fits it best. Of a searched method the best over its parameter is told, too; methods that are told the number
// of groups get the true one for that.
func (t *truthLevels) print(w io.Writer, l *latencies, found *topology.Hierarchy, by *searched) error {
	fmt.Fprintln(w, "\nshare of the ranks in the right group (Reinfjell 2023, eq. 3.7 to 3.9)")
	cuts := cluster.Cuts(found)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "level\tgroups\tfound\tshare\tadjusted Rand")
	if by != nil {
		fmt.Fprintf(tab, "\tbest (3.10)\tat --%s", by.family.Parameter)
	}
	fmt.Fprintln(tab)
	for _, level := range t.levels {
		best, share := cluster.Best(cuts, func(c cluster.Labels) float64 { return cluster.Matching(c, level.labels) })
		fmt.Fprintf(tab, "%s\t%d\t%d\t%.3f\t%.3f", level.name, level.labels.Clusters(), best.Clusters(), share, cluster.AdjustedRand(best, level.labels))
		if by != nil {
			d, _, err := cluster.Combine(l.matrices...)
			if err != nil {
				return err
			}
			most, err := by.family.Accuracy(d, level.labels)
			if err != nil {
				return err
			}
			fmt.Fprintf(tab, "\t%.3f\t%.4g", most.Score, most.Value)
		}
		fmt.Fprintln(tab)
	}
	tab.Flush()
	var groups [][]int
	for _, g := range found.Groups()[1:] {
		groups = append(groups, g.Hosts)
	}
	fmt.Fprintf(w, "groups that are found exactly: F1 %.3f of %d found and %d true\n", cluster.SetF1(groups, t.groups), len(groups), len(t.groups))
	for _, note := range t.notes {
		fmt.Fprintln(w, words.Fill("note: "+note, helpWidth))
	}
	return nil
}
