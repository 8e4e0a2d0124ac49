package encode

import (
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

// localFile is the topology found for one message length: its arcs as pairs of hosts, from and to,
// and the latency of each, null if it is not known.
type localFile struct {
	Bytes   int64      `json:"bytes"`
	Arcs    [][2]int   `json:"arcs"`
	Latency []*float64 `json:"latency_s"`
}

func localToFile(local []topology.LocalTopology) []localFile {
	var list []localFile
	for _, l := range local {
		f := localFile{Bytes: l.Bytes, Arcs: [][2]int{}, Latency: []*float64{}}
		for _, a := range l.Arcs {
			f.Arcs = append(f.Arcs, [2]int{a.From, a.To})
			f.Latency = append(f.Latency, jsonfile.Known(a.Latency))
		}
		list = append(list, f)
	}
	return list
}

// localFromFile refuses sizes that do not grow, and arcs that are not between two of the hosts.
func localFromFile(list []localFile, hosts int) ([]topology.LocalTopology, error) {
	var local []topology.LocalTopology
	for k, f := range list {
		if f.Bytes < 0 || k > 0 && f.Bytes <= list[k-1].Bytes {
			return nil, fmt.Errorf("by_size: entry %d has %d bytes: want more than the one before it", k, f.Bytes)
		}
		if len(f.Latency) != len(f.Arcs) {
			return nil, fmt.Errorf("by_size: entry %d has %d arcs and %d latencies", k, len(f.Arcs), len(f.Latency))
		}
		arcs := make([]topology.Arc, len(f.Arcs))
		for i, a := range f.Arcs {
			if min(a[0], a[1]) < 0 || max(a[0], a[1]) >= hosts || a[0] == a[1] {
				return nil, fmt.Errorf("by_size: entry %d has the arc %v: want two of %d hosts", k, a, hosts)
			}
			arcs[i] = topology.Arc{From: a[0], To: a[1], Latency: jsonfile.Value(f.Latency[i]), Bandwidth: jsonfile.Value(nil), Probability: 1}
			if latency := arcs[i].Latency; latency < 0 {
				return nil, fmt.Errorf("by_size: entry %d, arc %v: latency_s is %g: want at least 0", k, a, latency)
			}
		}
		local = append(local, topology.LocalTopology{Bytes: f.Bytes, Arcs: arcs})
	}
	return local, nil
}
