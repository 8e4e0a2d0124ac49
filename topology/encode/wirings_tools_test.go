package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/slurmtest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology/linkage"
)

// wiredMachine is a machine as its site has told its scheduler: cells of leaf switches below
// one top switch. Hosts have numbers in the order of the leaves.
func wiredMachine(t *testing.T, file string) *Fabric {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Hosts int
		Cells [][]int // hosts per leaf
	}
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	top := &FabricSwitch{Name: "top"}
	hosts := 0
	for c, leaves := range w.Cells {
		cell := &FabricSwitch{Name: fmt.Sprintf("cell%d", c)}
		for l, size := range leaves {
			leaf := &FabricSwitch{Name: fmt.Sprintf("leaf%d-%d", c, l)}
			for range size {
				hosts++
				leaf.Hosts = append(leaf.Hosts, fmt.Sprintf("n%04d", hosts))
			}
			cell.Switches = append(cell.Switches, leaf)
		}
		top.Switches = append(top.Switches, cell)
	}
	if hosts != w.Hosts {
		t.Fatalf("%s: %d hosts on leaves, want %d", file, hosts, w.Hosts)
	}
	return &Fabric{Roots: []*FabricSwitch{top}}
}

// latenciesOf are those between the hosts of a fabric, in s, numbered in the order given: 1.1 us on a
// leaf, 1.6 us within a cell and 2.2 us between cells, each 2 % off at random, and 2 % of them
// much too long.
func latenciesOf(t *testing.T, f *Fabric, hosts []string, rng *rand.Rand) *mat.Dense {
	t.Helper()
	leaf, cell := map[string]*FabricSwitch{}, map[string]*FabricSwitch{}
	f.walk(func(s *FabricSwitch, above []*FabricSwitch) {
		for _, name := range s.Hosts {
			leaf[name], cell[name] = s, above[0]
		}
	})
	n := len(hosts)
	leaves, cells := make([]*FabricSwitch, n), make([]*FabricSwitch, n)
	for i, name := range hosts {
		leaves[i], cells[i] = leaf[name], cell[name]
	}
	d := make([]float64, n*n)
	for i := range n {
		for j := range n {
			switch {
			case i == j:
			case leaves[i] == leaves[j]:
				d[i*n+j] = 1.1e-6
			case cells[i] == cells[j]:
				d[i*n+j] = 1.6e-6
			default:
				d[i*n+j] = 2.2e-6
			}
		}
	}
	noisy, err := gen.Noise{Sigma: 0.02, Outliers: 0.02}.Apply(rng, mat.NewDense(n, n, d))
	if err != nil {
		t.Fatal(err)
	}
	return noisy
}

// Whole machines, from simulated latencies of hosts in no order to the files of schedulers: each
// file has all groups of the machine's site and no other, and Slurm shows the same switches.
func TestToolsWholeMachines(t *testing.T) {
	tooltest.Need(t, slurmtest.Daemons+"/slurmctld", slurmtest.Daemons+"/munged", "scontrol")
	data, ok := published.Beside()
	if !ok {
		t.Skip("the wirings of whole machines may not enter the repository, and are not beside it; TestToolsSlurmLoadsTrees does without")
	}
	for _, machine := range []string{"leonardo", "jupiter"} {
		t.Run(machine, func(t *testing.T) {
			truth := wiredMachine(t, filepath.Join(data, "wirings", machine+".json"))
			hosts := truth.Hosts()
			rng := rand.New(rand.NewPCG(5, 1))
			rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
			found, err := linkage.Reconstruct(latenciesOf(t, truth, hosts, rng))
			if err != nil {
				t.Fatal(err)
			}
			f, warnings, err := NewFabric(found.Graph, found.Hierarchy, hosts)
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			want, err := truth.Hierarchy(hosts)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				name  string
				write func(io.Writer, *Fabric) error
				read  func(io.Reader) (*Fabric, error)
			}{
				{"topology.conf", WriteSlurmConf, readConf},
				{"topology.yaml", WriteSlurmYAML, readYAML},
				{"topograph", WriteTopograph, readTopograph},
			} {
				var b bytes.Buffer
				if err := c.write(&b, f); err != nil {
					t.Fatal(err)
				}
				read, err := c.read(&b)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if got, err := read.Hierarchy(hosts); err != nil || listGroups(got) != listGroups(want) {
					t.Errorf("%s: %v: %d groups that are not the machine's %d", c.name, err, len(got.Groups()), len(want.Groups()))
				}
			}
			checkSlurm(t, f)
		})
	}
}
