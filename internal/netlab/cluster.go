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
	"github.com/topocast/topocast/topology/encode"
)

// A Cluster describes a lab: the wiring and how the network behaves. A cluster file has it in these keys, but for the wiring.
type Cluster struct {
	Name string `json:"name"`

	// Graph is the wiring; every arc has a latency (s) and a bandwidth (B/s).
	Graph *topology.Graph `json:"-"`

	Routing      topology.RouteChoice `json:"-"`
	RanksPerHost int                  `json:"ranks_per_host"`
	MTU          int                  `json:"mtu"` // bytes of IP packet
	Queues       Queues               `json:"queues"`
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
	Bytes      int    `json:"bytes"`      // capacity; a frame that does not fit is lost
	ECN        int    `json:"ecn_bytes"`  // bytes from which on frames are marked; 0: never
}

// The words of a cluster file.
const (
	fair = "fair"
	fifo = "fifo"
)

// maxHosts is how many hosts a lab has at most.
const maxHosts = 250

// usualQueue is shallow. With ECN marks from 128 KB on it keeps a
// 100 Mbit/s uplink busy with a round trip of some ms; the capacity takes the
// first windows of a dozen connections that start at once. Queues are fair:
// in a FIFO queue acknowledgements wait behind the data of the other
// direction. A slow link loses 10 to 40 % then, when both directions are in use.
func usualQueue() Queue { return Queue{Discipline: fair, Bytes: 2 << 20, ECN: 128 << 10} }

// A clusterFile is the encoded form of a Cluster.
type clusterFile struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Spec    string          `json:"spec,omitempty"`
	Graph   json.RawMessage `json:"graph,omitempty"`
	Links   []linkFile      `json:"links,omitempty"`
	Routing string          `json:"routing,omitempty"`
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
//   - "graph", a graph of package topology/encode, or the name of its file in dir.
//
// "links" change single links: an entry holds for both directions unless the
// other has an entry of its own. An error names the field that is wrong. The
// cluster is called name if the file gives none.
func DecodeCluster(r io.Reader, dir, name string) (*Cluster, error) {
	c := &Cluster{
		Name: name, RanksPerHost: 1, MTU: 9000,
		Queues: Queues{NIC: usualQueue(), Switch: usualQueue(), BackPressure: true},
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
	return checkWiring(c.Graph)
}

// check refuses what is no word of its key, or outside the range of it.
func (c *Cluster) check() error {
	if !validName.MatchString(c.Name) {
		return fmt.Errorf("name: %q: want 1 to 32 letters, digits and inner hyphens", c.Name)
	}
	nic, between := &c.Queues.NIC, &c.Queues.Switch
	for _, x := range []struct{ key, is string }{
		{"queues.nic.discipline", nic.Discipline},
		{"queues.switch.discipline", between.Discipline},
	} {
		if x.is != fair && x.is != fifo {
			return fmt.Errorf("%s: %q: want %s or %s", x.key, x.is, fair, fifo)
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
	} {
		if !(x.is >= x.least && x.is <= x.most) {
			return fmt.Errorf("%s: %.10g: want in [%.10g, %.10g]", x.key, x.is, x.least, x.most)
		}
	}
	return nil
}

// Encode writes the cluster with its graph. DecodeCluster reads it.
func (c *Cluster) Encode(w io.Writer) error {
	var graph bytes.Buffer
	err := encode.WriteGraph(&graph, c.Graph)
	var text []byte
	if err == nil {
		text, err = json.MarshalIndent(clusterFile{Format: "topocast/netlab", Version: 1, Graph: graph.Bytes(), Routing: c.Routing.String(), Cluster: c}, "", "  ")
	}
	if err != nil {
		return fmt.Errorf("netlab: cluster: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
