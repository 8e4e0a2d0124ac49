package simnet_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// platform reads the hosts, routers and one-link routes of a SimGrid platform
// as these data have it.
func platform(t *testing.T, file string) *topology.Graph {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type named struct {
		ID string `xml:"id,attr"`
	}
	var p struct {
		Zone struct {
			Hosts   []named `xml:"host"`
			Routers []named `xml:"router"`
			Links   []struct {
				named
				Bandwidth string `xml:"bandwidth,attr"`
				Latency   string `xml:"latency,attr"`
			} `xml:"link"`
			Routes []struct {
				Src  string  `xml:"src,attr"`
				Dst  string  `xml:"dst,attr"`
				Uses []named `xml:"link_ctn"`
			} `xml:"route"`
		} `xml:"zone"`
	}
	if err := xml.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for _, v := range append(slices.Clone(p.Zone.Hosts), p.Zone.Routers...) {
		number[v.ID] = len(number)
	}
	value := func(s string) float64 {
		for suffix, factor := range map[string]float64{"GBps": 1e9, "MBps": 1e6, "us": 1e-6} {
			if digits, ok := strings.CutSuffix(s, suffix); ok {
				v, err := strconv.ParseFloat(digits, 64)
				if err != nil {
					t.Fatal(err)
				}
				return v * factor
			}
		}
		t.Fatalf("value %q", s)
		return 0
	}
	latency, bandwidth := map[string]float64{}, map[string]float64{}
	for _, l := range p.Zone.Links {
		latency[l.ID], bandwidth[l.ID] = value(l.Latency), value(l.Bandwidth)
	}
	var arcs []topology.Arc
	for _, r := range p.Zone.Routes {
		if r.Src == r.Dst {
			continue // the loopback, which all hosts have alike
		}
		l := r.Uses[0].ID
		arcs = topology.AppendLink(arcs, number[r.Src], number[r.Dst], latency[l], bandwidth[l])
	}
	g, err := topology.NewGraph(len(p.Zone.Hosts), len(p.Zone.Routers), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smpiSettings are SimGrid 3.32's defaults for MPI: factors of latency and
// bandwidth by size, acknowledgements of 5 %, shares by round trip, eager
// messages below 65536 B with 2 us of overhead on each side; and the loopback of
// the platforms.
func smpiSettings() *simnet.Settings {
	s := &simnet.Settings{
		EagerLimit: 65535, NoHandshake: true, FlowPerMessage: true, HollowAbove: 1,
		Send: simnet.Overhead{Seconds: 2e-6}, Recv: simnet.Overhead{Seconds: 2e-6},
		Sharing: contention.Sharing{Asymmetric: true, AckWeight: 0.05},
		Bias:    simnet.Bias{Power: 1, Bytes: 20537},
		Memory:  simnet.Memory{Latency: 0.5e-6, Bandwidth: 1e15, PerCopy: 6e9},
	}
	latency := []float64{2.01467, 1.95341, 1.9503, 1.61075, 1.88101, 2.18796, 2.59299, 3.48845, 11.6436}
	bandwidth := []float64{0.812084, 0.338112, 0.341987, 0.608902, 0.77493, 1.08739, 0.58729, 0.697866, 0.940694}
	for i, bytes := range []int{0, 257, 732, 1426, 3484, 5776, 9376, 15424, 65472} {
		s.Factors = append(s.Factors, simnet.Factor{Bytes: bytes, Latency: latency[i], Bandwidth: bandwidth[i]})
	}
	return s
}

// By hand: eight ranks on a switch, routes of 10 us, and 1000 B take 0.8 us of a link. Short messages
// leave at once, so what a rank sends shares its link: three messages of rank 0 arrive
// after 10 us + 3 x 0.8 us, the two of rank 4 as much later as 10 us + 2 x 0.8 us, and so on.
func TestBinomialBroadcastByHand(t *testing.T) {
	buf := make([]byte, 1000)
	got := finish(t, graphOf(t, "star:8"), nil, &simnet.Settings{}, func(c mpi.Communicator) error { return binomial(c, buf) })
	one, two, three := 10.8e-6, 11.6e-6, 12.4e-6
	wantTimes(t, got[1:], three, three, three+one, three, three+two, three+two, three+two+one)
}

// The recorded times of SMPI's binomial broadcast over 256 ranks, four on each
// host, on four platforms, in rank order and shuffled, from 8 B to 8 MiB: the
// largest difference is 2.3 %.
func TestBinomialBroadcastTakesSMPIsTime(t *testing.T) {
	data, ok := published.Beside()
	if !ok {
		t.Skip("SMPI's times may not enter the repository, and are not beside it; TestBinomialBroadcastByHand does without")
	}
	dir := filepath.Join(data, "smpi")
	text, err := os.ReadFile(filepath.Join(dir, "bcast_smpi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Bcast []struct {
			Platform, Placement string
			Bytes               int
			All                 map[string]float64 `json:"all_us"`
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	graphs := map[string]*topology.Graph{"fattree": graphOf(t, "fattree:8,8;1,4 latency=10us rate=117.5MBps")}
	for _, name := range []string{"tworack", "tworack1g", "tree3"} {
		graphs[name] = platform(t, filepath.Join(dir, "sm_"+name+".xml"))
	}
	buf := make([]byte, 8<<20)
	worst := 0.0
	for _, r := range recorded.Bcast {
		want, ok := r.All["binomial_tree"]
		if !ok {
			continue
		}
		hosts, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("sm_%s.%s.hf", r.Platform, r.Placement)))
		if err != nil {
			t.Fatal(err)
		}
		var placement []int
		for _, name := range strings.Fields(string(hosts)) {
			h, err := strconv.Atoi(strings.TrimPrefix(name, "h"))
			if err != nil {
				t.Fatal(err)
			}
			placement = append(placement, h)
		}
		s := smpiSettings()
		s.Routing = topology.ChooseModulo
		report, err := simnet.Simulate(graphs[r.Platform], placement, s, func(c mpi.Communicator) error { return binomial(c, buf[:r.Bytes]) })
		if err != nil {
			t.Fatal(err)
		}
		got := report.Seconds * 1e6
		worst = max(worst, math.Abs(got/want-1))
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s, %s, %d bytes: %.1f us, SMPI has %.1f", r.Platform, r.Placement, r.Bytes, got, want)
		}
	}
	t.Logf("worst relative difference %.4f", worst)
}
