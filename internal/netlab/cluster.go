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

// A Cluster describes a lab: the wiring and how the network behaves.
type Cluster struct {
	Name string

	// Graph is the wiring; every arc has a latency (s) and a bandwidth (B/s).
	Graph *topology.Graph

	Routing         topology.RouteChoice
	RanksPerHost    int
	MTU             int // bytes of IP packet
	StoreAndForward bool
	NIC, Switch     Queue // in front of the links that hosts and switches send on

	// BackPressure makes the kernel of a host hold back what the host's link
	// cannot take yet, as a real NIC does. Without it the frames wait in the
	// NIC's queue.
	BackPressure bool
	Jitter       Jitter
}

// A Queue is the waiting room in front of a link direction.
type Queue struct {
	Fair  bool // connections in turn, by bytes, and not first in, first out
	Bytes int  // capacity; a frame that does not fit is lost
	ECN   int  // bytes from which on frames are marked; 0: never
}

// A Jitter delays frames on arrival, in order per pair of hosts.
type Jitter struct {
	Seed               uint64
	Mean               float64 // s, of an exponential distribution, every frame
	OutlierProbability float64 // of a frame to be delayed by Outlier in addition
	Outlier            float64 // s
}

// The defaults of a cluster file. A queue with ECN marks from 128 KB on keeps a
// 100 Mbit/s uplink busy with a round trip of some ms; the capacity takes the
// first windows of a dozen connections that start at once. Queues are fair,
// because in a FIFO queue acknowledgements wait behind the data of the other
// direction, and a slow link loses 10 to 40 % when both directions are in use.
const (
	defaultMTU   = 9000
	defaultBytes = 2 << 20
	defaultECN   = 128 << 10
	deepBytes    = 16 << 20
	maxHosts     = 250
)

// clusterFile is the encoded form of a Cluster.
type clusterFile struct {
	Format       string      `json:"format"`
	Version      int         `json:"version"`
	Name         string      `json:"name,omitempty"`
	Spec         string      `json:"spec,omitempty"`
	Graph        string      `json:"graph,omitempty"`
	Hosts        []string    `json:"hosts,omitempty"`
	Switches     []string    `json:"switches,omitempty"`
	Links        []linkFile  `json:"links,omitempty"`
	Cycles       bool        `json:"cycles,omitempty"`
	Routing      string      `json:"routing,omitempty"`
	RanksPerHost *int        `json:"ranks_per_host,omitempty"`
	MTU          *int        `json:"mtu,omitempty"`
	Switching    string      `json:"switching,omitempty"`
	Queues       *queuesFile `json:"queues,omitempty"`
	Jitter       *jitterFile `json:"jitter,omitempty"`
}

type linkFile struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Latency *float64 `json:"latency_s,omitempty"`
	Rate    *float64 `json:"rate_Bps,omitempty"`
}

type queuesFile struct {
	NIC          *queueFile `json:"nic,omitempty"`
	Switch       *queueFile `json:"switch,omitempty"`
	BackPressure *bool      `json:"back_pressure,omitempty"`
}

type queueFile struct {
	Discipline string `json:"discipline,omitempty"` // fifo or fair
	Depth      string `json:"depth,omitempty"`      // shallow or deep: the defaults of what follows
	Bytes      *int   `json:"bytes,omitempty"`
	ECN        *int   `json:"ecn_bytes,omitempty"`
}

type jitterFile struct {
	Seed               uint64  `json:"seed"`
	Mean               float64 `json:"mean_s,omitempty"`
	OutlierProbability float64 `json:"outlier_probability,omitempty"`
	Outlier            float64 `json:"outlier_s,omitempty"`
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
	var f clusterFile
	if err := jsonfile.Decode(r, &f); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c, err := f.cluster(dir, name)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return c, nil
}

func (f *clusterFile) cluster(dir, name string) (*Cluster, error) {
	if f.Format != "topocast/netlab" || f.Version != 1 {
		return nil, fmt.Errorf("format, version: %q, %d: want %q, 1", f.Format, f.Version, "topocast/netlab")
	}
	c := &Cluster{Name: f.Name, RanksPerHost: 1, MTU: defaultMTU, BackPressure: true}
	if c.Name == "" {
		c.Name = name
	}
	if !validName.MatchString(c.Name) {
		return nil, fmt.Errorf("name: %q: want 1 to 32 letters, digits and inner hyphens", c.Name)
	}
	if err := setInt(&c.RanksPerHost, f.RanksPerHost, "ranks_per_host", 1, 64); err != nil {
		return nil, err
	}
	if err := setInt(&c.MTU, f.MTU, "mtu", 576, 65000); err != nil {
		return nil, err
	}
	switch f.Switching {
	case "", "cut-through":
	case "store-and-forward":
		c.StoreAndForward = true
	default:
		return nil, fmt.Errorf("switching: %q: want cut-through or store-and-forward", f.Switching)
	}
	if f.Queues == nil {
		f.Queues = &queuesFile{}
	}
	var err error
	if c.NIC, err = f.Queues.NIC.queue("queues.nic", c.MTU); err != nil {
		return nil, err
	}
	if c.Switch, err = f.Queues.Switch.queue("queues.switch", c.MTU); err != nil {
		return nil, err
	}
	if f.Queues.BackPressure != nil {
		c.BackPressure = *f.Queues.BackPressure
	}
	if f.Jitter != nil {
		if c.Jitter, err = f.Jitter.jitter(); err != nil {
			return nil, err
		}
	}
	if c.Graph, err = f.wiring(dir, &c.Routing); err != nil {
		return nil, err
	}
	if f.Routing != "" {
		if c.Routing, err = topology.ParseRouteChoice(f.Routing); err != nil {
			return nil, err
		}
	}
	return c, checkWiring(c.Graph, f.Cycles)
}

func setInt(dst, src *int, field string, least, most int) error {
	if src == nil {
		return nil
	}
	if *src < least || *src > most {
		return fmt.Errorf("%s: %d: want in [%d, %d]", field, *src, least, most)
	}
	*dst = *src
	return nil
}

func (q *queueFile) queue(field string, mtu int) (Queue, error) {
	c := Queue{Fair: true, Bytes: defaultBytes, ECN: defaultECN}
	if q == nil {
		return c, nil
	}
	switch q.Discipline {
	case "", "fair":
	case "fifo":
		c.Fair = false
	default:
		return c, fmt.Errorf("%s.discipline: %q: want fifo or fair", field, q.Discipline)
	}
	switch q.Depth {
	case "", "shallow":
	case "deep":
		c.Bytes, c.ECN = deepBytes, 0
	default:
		return c, fmt.Errorf("%s.depth: %q: want shallow or deep", field, q.Depth)
	}
	if err := setInt(&c.Bytes, q.Bytes, field+".bytes", mtu+ethernetHeader, 1<<30); err != nil {
		return c, err
	}
	return c, setInt(&c.ECN, q.ECN, field+".ecn_bytes", 0, 1<<30)
}

func (j *jitterFile) jitter() (Jitter, error) {
	switch {
	case !(j.Mean >= 0 && j.Mean <= 1):
		return Jitter{}, fmt.Errorf("jitter.mean_s: %g: want in [0, 1]", j.Mean)
	case !(j.OutlierProbability >= 0 && j.OutlierProbability <= 1):
		return Jitter{}, fmt.Errorf("jitter.outlier_probability: %g: want in [0, 1]", j.OutlierProbability)
	case !(j.Outlier >= 0 && j.Outlier <= 10):
		return Jitter{}, fmt.Errorf("jitter.outlier_s: %g: want in [0, 10]", j.Outlier)
	}
	return Jitter{Seed: j.Seed, Mean: j.Mean, OutlierProbability: j.OutlierProbability, Outlier: j.Outlier}, nil
}

// Encode writes the cluster with its wiring spelt out. DecodeCluster reads it.
func (c *Cluster) Encode(w io.Writer) error {
	f := clusterFile{
		Format: "topocast/netlab", Version: 1, Name: c.Name, Cycles: true,
		RanksPerHost: &c.RanksPerHost, MTU: &c.MTU,
		Queues: &queuesFile{NIC: c.NIC.file(), Switch: c.Switch.file(), BackPressure: &c.BackPressure},
	}
	if c.Routing != topology.ChooseLowest {
		f.Routing = c.Routing.String()
	}
	if c.StoreAndForward {
		f.Switching = "store-and-forward"
	}
	if c.Jitter != (Jitter{}) {
		j := jitterFile(c.Jitter)
		f.Jitter = &j
	}
	for v := range c.Graph.Vertices() {
		if c.Graph.IsSwitch(v) {
			f.Switches = append(f.Switches, c.Graph.Name(v))
		} else {
			f.Hosts = append(f.Hosts, c.Graph.Name(v))
		}
	}
	for _, a := range c.Graph.Arcs() {
		f.Links = append(f.Links, linkFile{From: c.Graph.Name(a.From), To: c.Graph.Name(a.To), Latency: &a.Latency, Rate: &a.Bandwidth})
	}
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("netlab: cluster: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (q Queue) file() *queueFile {
	f := &queueFile{Discipline: "fair", Bytes: &q.Bytes, ECN: &q.ECN}
	if !q.Fair {
		f.Discipline = "fifo"
	}
	return f
}
