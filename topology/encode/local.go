package encode

import (
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

// localFile is the topology found for one message length: its arcs as pairs of hosts, from and to,
// and the latency of each, null if it is not known; and the same of the arcs that other lengths alone have.
type localFile struct {
	Bytes         int64      `json:"bytes"`
	Arcs          [][2]int   `json:"arcs"`
	Latency       []*float64 `json:"latency_s"`
	Absent        [][2]int   `json:"absent,omitempty"`
	AbsentLatency []*float64 `json:"absent_latency_s,omitempty"`
}

func localToFile(local []topology.LocalTopology) []localFile {
	var list []localFile
	for _, l := range local {
		f := localFile{Bytes: l.Bytes, Arcs: [][2]int{}, Latency: []*float64{}}
		f.Arcs, f.Latency = appendArcs(f.Arcs, f.Latency, l.Arcs)
		f.Absent, f.AbsentLatency = appendArcs(nil, nil, l.Absent)
		list = append(list, f)
	}
	return list
}

// appendArcs appends the ends of arcs and their latencies.
func appendArcs(ends [][2]int, latency []*float64, arcs []topology.Arc) ([][2]int, []*float64) {
	for _, a := range arcs {
		ends, latency = append(ends, [2]int{a.From, a.To}), append(latency, jsonfile.Known(a.Latency))
	}
	return ends, latency
}

// localFromFile refuses sizes that do not grow, and arcs that are not between two of the hosts.
func localFromFile(list []localFile, hosts int) ([]topology.LocalTopology, error) {
	var local []topology.LocalTopology
	for k, f := range list {
		if f.Bytes < 0 || k > 0 && f.Bytes <= list[k-1].Bytes {
			return nil, fmt.Errorf("by_size: entry %d has %d bytes: want more than the one before it", k, f.Bytes)
		}
		arcs, err := localArcs(f.Arcs, f.Latency, hosts)
		if err != nil {
			return nil, fmt.Errorf("by_size: entry %d %w", k, err)
		}
		absent, err := localArcs(f.Absent, f.AbsentLatency, hosts)
		if err != nil {
			return nil, fmt.Errorf("by_size: absent: entry %d %w", k, err)
		}
		local = append(local, topology.LocalTopology{Bytes: f.Bytes, Arcs: arcs, Absent: absent})
	}
	return local, nil
}

// localArcs refuses what is no graph between the hosts.
func localArcs(ends [][2]int, latency []*float64, hosts int) ([]topology.Arc, error) {
	if len(latency) != len(ends) {
		return nil, fmt.Errorf("has %d arcs and %d latencies", len(ends), len(latency))
	}
	arcs := make([]topology.Arc, len(ends))
	for i, a := range ends {
		arcs[i] = topology.Arc{From: a[0], To: a[1], Latency: jsonfile.Value(latency[i]), Bandwidth: jsonfile.Value(nil), Probability: 1}
	}
	if _, err := topology.NewGraph(hosts, 0, nil, arcs); err != nil {
		return nil, fmt.Errorf("has other arcs than between %d hosts: %w", hosts, err)
	}
	return arcs, nil
}
