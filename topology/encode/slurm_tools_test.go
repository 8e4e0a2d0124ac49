package encode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/slurmtest"
	"github.com/topocast/topocast/internal/tooltest"
)

// checkSlurm has Slurm load the topology.conf of a fabric and compares the switches that it
// shows: their tiers, their hosts and the switches below.
func checkSlurm(t *testing.T, f *Fabric) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSlurmConf(&b, f); err != nil {
		t.Fatal(err)
	}
	// The fabric names the nodes only: Slurm has the tree from the file.
	nodes := fmt.Sprintf("NodeName=%s NodeAddr=localhost State=UNKNOWN", hostlist.Format(f.Hosts()))
	shown := slurmtest.Start(t, &slurmtest.Settings{Nodes: nodes, Topology: b.String()}).Ask(t, "scontrol", "show", "topology")
	var got []string
	for line := range strings.Lines(shown) {
		values := map[string]string{}
		for _, field := range strings.Fields(line) {
			key, value, _ := strings.Cut(field, "=")
			values[key] = value
		}
		got = append(got, fmt.Sprintf("%s tier %s hosts %s switches %s", values["SwitchName"], values["Level"], ordered(t, values["Nodes"]), ordered(t, values["Switches"])))
	}
	full, err := readSlurmConf(b.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	tier, below := map[*FabricSwitch]int{}, map[*FabricSwitch][]string{}
	full.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		below[s] = slices.Clone(s.Hosts)
		for _, c := range s.Switches {
			tier[s] = max(tier[s], tier[c]+1)
			below[s] = append(below[s], below[c]...)
		}
		slices.Sort(below[s])
		var names []string
		for _, c := range s.Switches {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		want = append(want, fmt.Sprintf("%s tier %d hosts %s switches %s", s.Name, tier[s], strings.Join(below[s], ","), strings.Join(names, ",")))
	})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("Slurm shows\n%.2000s\nwant\n%.2000s\nof\n%.2000s", strings.Join(got, "\n"), strings.Join(want, "\n"), b.String())
	}
}

// ordered is a hostlist of Slurm written out, in order.
func ordered(t *testing.T, list string) string {
	if list == "" {
		return ""
	}
	names, err := hostlist.Expand(list, maxNames)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Slurm has the tree that we wrote: of uneven depth, and of networks that are not connected.
func TestToolsSlurmLoadsTrees(t *testing.T) {
	tooltest.Need(t, slurmtest.Daemons+"/slurmctld", slurmtest.Daemons+"/munged", "scontrol")
	leaf := func(name string, hosts ...string) *FabricSwitch { return &FabricSwitch{Name: name, Hosts: hosts} }
	for name, f := range map[string]*Fabric{
		"uneven":            unevenFabric(),
		"one switch":        {Roots: []*FabricSwitch{leaf("root", "n1", "n2")}},
		"separate networks": {Roots: []*FabricSwitch{unevenFabric().Roots[0], leaf("root-2", "x1", "x2"), leaf("root-3", "y")}},
	} {
		t.Run(name, func(t *testing.T) { checkSlurm(t, f) })
	}
}

// Slurm reads lists of names as we do.
func TestToolsSlurmExpandsHostlists(t *testing.T) {
	tooltest.Need(t, "scontrol")
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(conf, []byte("ClusterName=test\nSlurmctldHost=localhost\nNodeName=n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	for _, list := range []string{
		"tux[0-3,12,18-20]", "rack[0-1]_blade[08-09]", "a,b[1,2],c", "n[007-010]", "n[098-100]", "n[8-11]", "[1-3]", "r1n[1-2],r2n1",
		hostlist.Format(strings.Fields("tux8 tux08 tux9 tux099 tux100 tux0100 login n1-ib0 n2-ib0")),
	} {
		want := strings.Fields(tooltest.Run(t, slurmtest.Budget, "", "scontrol", "show", "hostnames", list))
		if got, err := hostlist.Expand(list, maxNames); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; Slurm has %v", list, got, err, want)
		}
	}
}
