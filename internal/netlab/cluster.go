package netlab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

// A Cluster describes a lab: the wiring and how the network behaves. A cluster file has it in these keys, but for the wiring.
type Cluster struct {
	Name string `json:"name"`

	// Graph is the wiring; every arc has a latency (s) and a bandwidth (B/s).
	Graph *topology.Graph `json:"-"`

	Routing      topology.RouteChoice `json:"-"`
	RanksPerHost int                  `json:"ranks_per_host"`
	MTU          int                  `json:"mtu"`       // bytes of IP packet
	Switching    string               `json:"switching"` // cutThrough or storeAndForward
	Queues       Queues               `json:"queues"`
	Jitter       Jitter               `json:"jitter"`
}

// Queues are those in front of the links that hosts and switches send on.
type Queues struct {
	NIC    Queue `json:"nic"`
	Switch Queue `json:"switch"`

	// BackPressure makes the kernel of a host hold back what the host's link
	// cannot take yet, as a real NIC does. Without it the frames wait in the
	// NIC's queue.
	BackPressure bool `json:"back_pressure"`
}

// A Queue is the waiting room in front of a link direction.
type Queue struct {
	Discipline string `json:"discipline"` // fair: connections in turn, by bytes; or fifo
	Depth      string `json:"depth"`      // shallow or deep: the defaults of what follows
	Bytes      int    `json:"bytes"`      // capacity; a frame that does not fit is lost
	ECN        int    `json:"ecn_bytes"`  // bytes from which on frames are marked; 0: never
}

// A Jitter delays frames on arrival, in order per pair of hosts.
type Jitter struct {
	Seed               uint64  `json:"seed"`
	Mean               float64 `json:"mean_s"`              // of an exponential distribution, every frame
	OutlierProbability float64 `json:"outlier_probability"` // of a frame to be delayed by Outlier in addition
	Outlier            float64 `json:"outlier_s"`
}

// The words of a cluster file.
const (
	cutThrough      = "cut-through"
	storeAndForward = "store-and-forward"
	fair            = "fair"
	fifo            = "fifo"
	shallow         = "shallow"
	deep            = "deep"
)

// maxHosts is how many hosts a lab has at most.
const maxHosts = 250

// shallowQueue is the usual one. With ECN marks from 128 KB on it keeps a
// 100 Mbit/s uplink busy with a round trip of some ms; the capacity takes the
// first windows of a dozen connections that start at once. Queues are fair:
// in a FIFO queue acknowledgements wait behind the data of the other
// direction. A slow link loses 10 to 40 % then, when both directions are in use.
func shallowQueue() Queue {
	return Queue{Discipline: fair, Depth: shallow, Bytes: 2 << 20, ECN: 128 << 10}
}

// UnmarshalJSON lets the depth choose the defaults of the keys that are left out.
func (q *Queue) UnmarshalJSON(data []byte) error {
	var preset struct {
		Depth string `json:"depth"`
	}
	if err := jsonfile.Unmarshal(data, &preset); err != nil {
		return err
	}
	if preset.Depth == deep {
		q.Bytes, q.ECN = 16<<20, 0
	}
	type keys Queue
	return jsonfile.Decode(bytes.NewReader(data), (*keys)(q))
}

// A clusterFile is the encoded form of a Cluster.
type clusterFile struct {
	Format   string     `json:"format"`
	Version  int        `json:"version"`
	Spec     string     `json:"spec,omitempty"`
	Graph    string     `json:"graph,omitempty"`
	Hosts    []string   `json:"hosts,omitempty"`
	Switches []string   `json:"switches,omitempty"`
	Links    []linkFile `json:"links,omitempty"`
	Cycles   bool       `json:"cycles,omitempty"`
	Routing  string     `json:"routing,omitempty"`
	*Cluster
}

type linkFile struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Latency *float64 `json:"latency_s,omitempty"`
	Rate    *float64 `json:"rate_Bps,omitempty"`
}

// ReadCluster reads a cluster file. Graph files that it names are looked up
// beside it; a file without a name is called after the file.
func ReadCluster(path string) (*Cluster, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("netlab: cluster: %w", err)
	}
	defer f.Close()
	base := filepath.Base(path)
	c, err := DecodeCluster(f, filepath.Dir(path), strings.TrimSuffix(base, filepath.Ext(base)))
	if err != nil {
		return nil, fmt.Errorf("netlab: %s: %w", path, err)
	}
	return c, nil
}

// DecodeCluster reads a cluster from r. The wiring is one of
//
//   - "spec", a string of package internal/gen,
//   - "graph", the name of a graph file of package topology/encode, in dir,
//   - "hosts", "switches" and "links", by name.
//
// With the first two, "links" change single links: an entry holds for both
// directions unless the other has an entry of its own. An error names the
// field that is wrong. The cluster is called name if the file gives none.
func DecodeCluster(r io.Reader, dir, name string) (*Cluster, error) {
	c := &Cluster{
		Name: name, RanksPerHost: 1, MTU: 9000, Switching: cutThrough,
		Queues: Queues{NIC: shallowQueue(), Switch: shallowQueue(), BackPressure: true},
	}
	f := clusterFile{Cluster: c}
	err := jsonfile.Decode(r, &f)
	if err == nil {
		err = f.finish(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return c, nil
}

// finish checks what was read, and makes the wiring.
func (f *clusterFile) finish(dir string) (err error) {
	if f.Format != "topocast/netlab" || f.Version != 1 {
		return fmt.Errorf("format, version: %q, %d: want %q, 1", f.Format, f.Version, "topocast/netlab")
	}
	c := f.Cluster
	if err := c.check(); err != nil {
		return err
	}
	if c.Graph, err = f.wiring(dir, &c.Routing); err != nil {
		return err
	}
	if f.Routing != "" {
		if c.Routing, err = topology.ParseRouteChoice(f.Routing); err != nil {
			return err
		}
	}
	return checkWiring(c.Graph, f.Cycles)
}

// check refuses what is no word of its key, or outside the range of it.
func (c *Cluster) check() error {
	if !validName.MatchString(c.Name) {
		return fmt.Errorf("name: %q: want 1 to 32 letters, digits and inner hyphens", c.Name)
	}
	nic, between := &c.Queues.NIC, &c.Queues.Switch
	for _, x := range []struct{ key, is, one, other string }{
		{"switching", c.Switching, cutThrough, storeAndForward},
		{"queues.nic.discipline", nic.Discipline, fair, fifo},
		{"queues.nic.depth", nic.Depth, shallow, deep},
		{"queues.switch.discipline", between.Discipline, fair, fifo},
		{"queues.switch.depth", between.Depth, shallow, deep},
	} {
		if x.is != x.one && x.is != x.other {
			return fmt.Errorf("%s: %q: want %s or %s", x.key, x.is, x.one, x.other)
		}
	}
	frame := float64(c.MTU + ethernetHeader)
	for _, x := range []struct {
		key             string
		is, least, most float64
	}{
		{"ranks_per_host", float64(c.RanksPerHost), 1, 64},
		{"mtu", float64(c.MTU), 576, 65000},
		{"queues.nic.bytes", float64(nic.Bytes), frame, 1 << 30},
		{"queues.nic.ecn_bytes", float64(nic.ECN), 0, 1 << 30},
		{"queues.switch.bytes", float64(between.Bytes), frame, 1 << 30},
		{"queues.switch.ecn_bytes", float64(between.ECN), 0, 1 << 30},
		{"jitter.mean_s", c.Jitter.Mean, 0, 1},
		{"jitter.outlier_probability", c.Jitter.OutlierProbability, 0, 1},
		{"jitter.outlier_s", c.Jitter.Outlier, 0, 10},
	} {
		if !(x.is >= x.least && x.is <= x.most) {
			return fmt.Errorf("%s: %.10g: want in [%.10g, %.10g]", x.key, x.is, x.least, x.most)
		}
	}
	return nil
}

// Encode writes the cluster with its wiring spelt out. DecodeCluster reads it.
func (c *Cluster) Encode(w io.Writer) error {
	f := clusterFile{Format: "topocast/netlab", Version: 1, Cycles: true, Routing: c.Routing.String(), Cluster: c}
	names := c.Graph.Names()
	f.Hosts, f.Switches = names[:c.Graph.Hosts()], names[c.Graph.Hosts():]
	for _, a := range c.Graph.Arcs() {
		f.Links = append(f.Links, linkFile{From: names[a.From], To: names[a.To], Latency: &a.Latency, Rate: &a.Bandwidth})
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("netlab: cluster: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
