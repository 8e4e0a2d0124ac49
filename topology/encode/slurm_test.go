package encode

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/hostlist"
)

func readConf(r io.Reader) (*Fabric, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return readSlurmConf(data, "")
}

func readYAML(r io.Reader) (*Fabric, error) { return readSlurmYAML(r, "") }

// unevenFabric has racks in a cell and beside it, and hosts directly below upper switches.
func unevenFabric() *Fabric {
	leaf := func(name string, hosts ...string) *FabricSwitch { return &FabricSwitch{Name: name, Hosts: hosts} }
	return &Fabric{Roots: []*FabricSwitch{{
		Name: "root", Hosts: []string{"login", "tux99"},
		Switches: []*FabricSwitch{
			{Name: "cell-1", Switches: []*FabricSwitch{leaf("rack-1", "tux0", "tux1", "tux2", "tux7"), leaf("rack-2", "tux3", "tux4")}, Hosts: []string{"tux5"}},
			leaf("rack-3", "tux08", "tux09", "tux10"),
		},
	}}}
}

func TestWriteSlurmConf(t *testing.T) {
	const want = `# Slurm, topology/tree: 12 hosts, leaf switches: 6
SwitchName=rack-1 Nodes=tux[0-2,7]
SwitchName=rack-2 Nodes=tux[3-4]
SwitchName=direct-1 Nodes=tux5
SwitchName=cell-1 Switches=direct-1,rack-[1-2]
SwitchName=rack-3 Nodes=tux[08-10]
SwitchName=direct-2 Nodes=login
SwitchName=direct-3 Nodes=tux99
SwitchName=root Switches=cell-1,direct-[2-3],rack-3
`
	var b bytes.Buffer
	if err := WriteSlurmConf(&b, unevenFabric()); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != want {
		t.Errorf("WriteSlurmConf wrote\n%swant\n%s", got, want)
	}
}

// Each is the documented layout: topology.conf(5) and topology.yaml(5) of Slurm 25.05, topograph's
// page of its engine "graph".
func TestFabricFormats(t *testing.T) {
	f := &Fabric{Roots: []*FabricSwitch{
		{Name: "root-1", Switches: []*FabricSwitch{{Name: "rack-1", Hosts: []string{"1", "2"}}, {Name: "rack-2", Hosts: []string{"3", "4", "5"}}}},
		{Name: "root-2", Hosts: []string{"null"}},
	}}
	for _, c := range []struct {
		name  string
		write func(io.Writer, *Fabric) error
		want  string
	}{
		{"blocks", WriteSlurmBlocks, `# Slurm, topology/block: 6 hosts, leaf switches: 3, networks that are not connected: 2
BlockName=rack-1 Nodes=[1-2]
BlockName=rack-2 Nodes=[3-5]
BlockName=root-2 Nodes=null
BlockSizes=1
`},
		{"YAML", WriteSlurmYAML, `---
- topology: measured
  cluster_default: true
  tree:
    switches:
      - switch: rack-1
        nodes: '[1-2]'
      - switch: rack-2
        nodes: '[3-5]'
      - switch: root-1
        children: rack-[1-2]
      - switch: root-2
        nodes: "null"
`},
		{"YAML of blocks", WriteSlurmBlockYAML, `---
- topology: measured
  cluster_default: true
  block:
    block_sizes:
      - 1
    blocks:
      - block: rack-1
        nodes: '[1-2]'
      - block: rack-2
        nodes: '[3-5]'
      - block: root-2
        nodes: "null"
`},
		{"topograph", WriteTopograph, `{
 "instances": [
  {
   "id": "1",
   "network_layers": [
    "rack-1",
    "root-1"
   ]
  },
`},
	} {
		var b bytes.Buffer
		if err := c.write(&b, f); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.HasPrefix(got, c.want) || c.name != "topograph" && got != c.want {
			t.Errorf("%s: wrote\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Each reader has what its writer was given: hosts directly below upper switches have a leaf
// for Slurm, and blocks no switches above but one.
func TestFabricRoundTrips(t *testing.T) {
	direct := "root(cell-1(direct-1[tux5] rack-1[tux0 tux1 tux2 tux7] rack-2[tux3 tux4]) direct-2[login] direct-3[tux99] rack-3[tux08 tux09 tux10])"
	blocks := "root(direct-1[tux5] direct-2[login] direct-3[tux99] rack-1[tux0 tux1 tux2 tux7] rack-2[tux3 tux4] rack-3[tux08 tux09 tux10])"
	for _, c := range []struct {
		name  string
		write func(io.Writer, *Fabric) error
		read  func(io.Reader) (*Fabric, error)
		want  string
	}{
		{"topology.conf", WriteSlurmConf, readConf, direct},
		{"topology.yaml", WriteSlurmYAML, readYAML, direct},
		{"topology.conf with blocks", WriteSlurmBlocks, readConf, blocks},
		{"topology.yaml with blocks", WriteSlurmBlockYAML, readYAML, blocks},
		{"topograph", WriteTopograph, readTopograph, "root(cell-1(rack-1[tux0 tux1 tux2 tux7] rack-2[tux3 tux4] tux5) rack-3[tux08 tux09 tux10] login tux99)"},
	} {
		var b bytes.Buffer
		if err := c.write(&b, unevenFabric()); err != nil {
			t.Fatal(err)
		}
		f, err := c.read(&b)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := fabricText(sorted(f)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// sorted puts the switches below each switch in the order of their names, and hosts likewise.
func sorted(f *Fabric) *Fabric {
	order := func(a, b *FabricSwitch) int { return hostlist.Naturally(a.Name, b.Name) }
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		slices.SortFunc(s.Hosts, hostlist.Naturally)
		slices.SortFunc(s.Switches, order)
	})
	slices.SortFunc(f.Roots, order)
	return f
}

// A leaf that a host gets has no name that is there.
func TestDirectLeavesHaveNamesOfTheirOwn(t *testing.T) {
	var b bytes.Buffer
	f := &Fabric{Roots: []*FabricSwitch{{Name: "root", Hosts: []string{"c"}, Switches: []*FabricSwitch{{Name: "direct-1", Hosts: []string{"a", "b"}}}}}}
	if err := WriteSlurmConf(&b, f); err != nil || !strings.Contains(b.String(), "SwitchName=direct-2 Nodes=c\nSwitchName=root Switches=direct-[1-2]\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Fabrics that someone made by hand.
func TestFabricWritersRefuse(t *testing.T) {
	leaf := func(name string, hosts ...string) *FabricSwitch { return &FabricSwitch{Name: name, Hosts: hosts} }
	for _, c := range []struct {
		roots []*FabricSwitch
		want  string
	}{
		{nil, "no switches"},
		{[]*FabricSwitch{leaf("s")}, `switch "s" has nothing below it`},
		{[]*FabricSwitch{leaf("s", "a"), leaf("s", "b")}, `switch "s" is there twice`},
		{[]*FabricSwitch{leaf("s", "a"), leaf("t", "a")}, `host "a" is there twice`},
		{[]*FabricSwitch{leaf("s", "a b")}, `host "a b": want a name`},
		{[]*FabricSwitch{leaf("s\nSwitchName=t", "a")}, "want a name without blanks"},
		{[]*FabricSwitch{leaf("s[1-2]", "a")}, "want a name without blanks"},
		{[]*FabricSwitch{leaf("", "a")}, "the switch has no name"},
	} {
		for name, write := range map[string]func(io.Writer, *Fabric) error{
			"tree": WriteSlurmConf, "blocks": WriteSlurmBlocks, "YAML": WriteSlurmYAML, "YAML of blocks": WriteSlurmBlockYAML, "topograph": WriteTopograph,
		} {
			var b bytes.Buffer
			if err := write(&b, &Fabric{Roots: c.roots}); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("%s: %v, %d bytes; want an error with %q", name, err, b.Len(), c.want)
			}
		}
	}
}

// What sites write by hand.
func TestReadSlurmConf(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"the example of topology.conf(5)", "# comment\nSwitchName=s0 Nodes=dev[0-2]\nSwitchName=s1 Nodes=dev[6-7]\nSwitchName=s3 Switches=s[0-1]\n", "s3(s0[dev0 dev1 dev2] s1[dev6 dev7])"},
		{"roots, other cases, link speeds, comments", "switchname=a NODES=x,y LinkSpeed=100 # two\r\n\nSWITCHNAME=b Nodes=z", "a[x y] b[z]"},
		{"quotes and lines that go on", "SwitchName=\"a\" \\\n  Nodes=\"x,y\"\n", "a[x y]"},
		{"upper switches first", "SwitchName=t Switches=a,b\nSwitchName=b Nodes=y\nSwitchName=a Nodes=x", "t(a[x] b[y])"},
		{"the blocks of topology.conf(5)", "BlockName=block1 Nodes=node[1-3]\nBlockName=block2 Nodes=node[4-6]\nBlockSizes=3,6\n", "root(block1[node1 node2 node3] block2[node4 node5 node6])"},
	} {
		f, err := readConf(strings.NewReader(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := fabricText(f); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestReadSlurmConfRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", "# nothing\n", "no switches"},
		{"a switch below two", "SwitchName=a Nodes=x\nSwitchName=b Switches=a\nSwitchName=c Switches=a", `line 3: switch "a" is below switches "b" and "c"`},
		{"a switch that is not there", "SwitchName=b Switches=a", `line 1: switch "a" is not described`},
		{"a switch twice", "SwitchName=b Nodes=a\nSwitchName=b Nodes=c", `line 2: switch "b" is there twice`},
		{"a ring", "SwitchName=a Switches=b\nSwitchName=b Switches=a", "or they form a ring"},
		{"nodes and switches", "SwitchName=a Switches=b Nodes=x", `line 1: switch "a": want either nodes or switches`},
		{"nothing below", "SwitchName=a", "want either nodes or switches"},
		{"no name", "SwitchName= Nodes=x", "want a name without blanks"},
		{"a long name", "SwitchName=" + strings.Repeat("s", 65) + " Nodes=x", "65 bytes: want at most 64"},
		{"a huge list", "SwitchName=a Nodes=x[0-99999999]", "more than 131072 names"},
		{"many lists", strings.Repeat("SwitchName=a Nodes=x[0-131071]\n", 3), "line 3: more than 131072 names"},
		{"an unknown key", "SwitchName=a Nods=x", `line 1: key "nods": want SwitchName`},
		{"a key twice", "SwitchName=a Nodes=x Nodes=y", `key "nodes" is there twice`},
		{"no key", "SwitchName=a Nodes", "want a key and its value"},
		{"nodes alone", "Nodes=x", "line 1: want a line that begins with"},
		{"another file", "Include more.conf\nSwitchName=a Nodes=x", "line 1: it includes more.conf"},
		{"an open quote", `SwitchName="a Nodes=x`, "line 1: a quote is not closed"},
		{"an end that goes on", "SwitchName=a \\", "line 1: the file ends"},
		{"a node that is none", "SwitchName=a Nodes=x;y", `host "x;y": want a name`},
		{"deep nesting", deepConf(), "or they form a ring"},
	} {
		if f, err := readConf(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, f, err, c.want)
		}
	}
}

// deepConf nests 40 switches.
func deepConf() string {
	var b strings.Builder
	b.WriteString("SwitchName=s0 Nodes=x\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "SwitchName=s%d Switches=s%d\n", i, i-1)
	}
	return b.String()
}

// Reference: the page of topology.yaml at slurm.schedmd.com has three topologies.
func TestReadSlurmYAML(t *testing.T) {
	const file = `---
- topology: topo1
  cluster_default: true
  tree:
    switches:
      - switch: sw_root
        children: s[1-2]
      - switch: s1
        nodes: node[01-02]
      - switch: s2
        nodes: node[03-04]
- topology: topo2
  cluster_default: false
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: node[01-02]
- topology: topo3
  cluster_default: false
  flat: true
`
	for _, c := range []struct{ name, file, want string }{
		{"the default of several", file, "sw_root(s1[node01 node02] s2[node03 node04])"},
		{"nodes that have a name", "- topology: a\n  block: {block_sizes: [1], blocks: [{block: b, nodes: &rack x}]}\n- topology: b\n  cluster_default: true\n  tree: {switches: [{switch: s, nodes: *rack}]}\n", "s[x]"},
		{"the only one", "- topology: a\n  block: {block_sizes: [1], blocks: [{block: b, nodes: x}]}\n", "b[x]"},
	} {
		f, err := readYAML(strings.NewReader(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := fabricText(f); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "no topology"},
		{"no default", strings.ReplaceAll(file, "true", "false"), "none of its topologies is the default of the cluster: choose topo1, topo2 or topo3"},
		{"flat", "- topology: a\n  flat: true\n", "want either a tree or blocks"},
		{"an unknown key", "- topology: a\n  tree: {switches: [{switch: s, node: x}]}\n", "field node not found"},
		{"a billion laughs", billionLaughsYAML(), "excessive aliasing"},
		{"two documents", "- topology: a\n  tree: {switches: [{switch: s, nodes: x}]}\n---\n- topology: b\n", "more than one document"},
		{"a topology of another plugin", "- topology: a\n  ring: {rings: [{ring: r, nodes: x}]}\n", `topology "a": want either a tree or blocks, have ring`},
		{"a tree and more", "- topology: a\n  tree: {switches: [{switch: s, nodes: x}]}\n  leaves: 3\n", `topology "a": keys leaves are not known`},
		{"no list", "topology: a\n", "cannot unmarshal"},
		{"deep nesting", strings.Repeat("[", 20000), "depth"},
		{"a huge file", strings.Repeat("# \n", 2<<20), "more than 4 MiB"},
	} {
		if f, err := readYAML(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, f, err, c.want)
		}
	}
}

func TestReadTopograph(t *testing.T) {
	// Reference: the page of the engine "graph", version 1.0.
	const file = `{"instances": [{"id": "I21", "network_layers": ["leaf-a", "spine-a"], "labels": {"example.com/gpu-product": "H100"}},
		{"id": "I22", "type": "H100", "network_layers": ["spine-a"]}]}`
	f, err := readTopograph(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fabricText(f), "spine-a(leaf-a[I21] I22)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	instance := func(id string, layers ...string) string {
		return fmt.Sprintf(`{"id": %q, "network_layers": ["%s"]}`, id, strings.Join(layers, `", "`))
	}
	for _, c := range []struct{ name, file, want string }{
		{"nothing", `{"instances": []}`, "no switches"},
		{"no switch", `{"instances": [{"id": "a"}]}`, "0 network layers: want 1 to 30"},
		{"an unknown key", `{"instances": [{"id": "a", "layers": []}]}`, "layers"},
		{"a host twice", `{"instances": [` + instance("a", "s") + "," + instance("a", "t") + `]}`, `host "a" is on switches "s" and "t"`},
		{"a host twice on a switch", `{"instances": [` + instance("a", "s") + "," + instance("a", "s") + `]}`, `host "a" is on switches "s" and "s"`},
		{"a switch below two", `{"instances": [` + instance("a", "s", "t") + "," + instance("b", "s", "u") + `]}`, `switch "s" is below "u", and was below "t" before`},
		{"a switch below one and none", `{"instances": [` + instance("a", "s") + "," + instance("b", "s", "u") + `]}`, `nothing above switch "s", which is below "u" elsewhere`},
		{"a ring", `{"instances": [` + instance("a", "s", "t", "s") + `]}`, `nothing above switch "s"`},
		{"no name", `{"instances": [` + instance("a", "") + `]}`, "the switch has no name"},
		{"deep nesting", `{"instances": [` + instance("a", strings.Split(strings.Repeat("s,", 40), ",")...) + `]}`, "41 network layers"},
	} {
		if f, err := readTopograph(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, f, err, c.want)
		}
	}
}

// fuzzFabric reads files with a reader and demands that what was read survives a writer.
func fuzzFabric(f *testing.F, read func(io.Reader) (*Fabric, error), write func(io.Writer, *Fabric) error) {
	f.Fuzz(func(t *testing.T, file string) {
		fabric, err := read(strings.NewReader(file))
		if err != nil {
			return
		}
		hosts := fabric.Hosts()
		want, err := fabric.Hierarchy(hosts)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := write(&b, fabric); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		again, err := read(&b)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got, err := again.Hierarchy(hosts); err != nil || listGroups(got) != listGroups(want) {
			t.Errorf("%v: groups %s, want %s", err, listGroups(got), listGroups(want))
		}
	})
}

func FuzzReadSlurmConf(f *testing.F) {
	f.Add("SwitchName=s0 Nodes=dev[0-2]\nSwitchName=s1 \\\n Nodes=\"dev[6-7]\" # x\nSwitchName=s3 Switches=s[0-1]\n")
	fuzzFabric(f, readConf, WriteSlurmConf)
}

func FuzzReadSlurmYAML(f *testing.F) {
	f.Add("- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: x[1-2]\n")
	fuzzFabric(f, readYAML, WriteSlurmYAML)
}

func FuzzReadTopograph(f *testing.F) {
	f.Add(`{"instances": [{"id": "a", "network_layers": ["l", "s"]}, {"id": "b", "network_layers": ["s"]}]}`)
	fuzzFabric(f, readTopograph, WriteTopograph)
}

// What Slurm takes, with a warning or without one, and what scontrol prints. Of a host on two leaves slurmctld warns ("Multiple leaf switches
// contain nodes") and takes the file.
func TestReadFabric(t *testing.T) {
	const tree = "SwitchName=a Nodes=x,y\nSwitchName=b Nodes=z\nSwitchName=t Switches=a,b\n"
	const several = "- topology: ib\n  cluster_default: true\n  tree: {switches: [{switch: a, nodes: 'x,y'}, {switch: b, nodes: z}, {switch: t, children: 'a,b'}]}\n" +
		"- topology: other\n  block: {blocks: [{block: b1, nodes: x}]}\n- topology: loop\n  ring: {rings: [{ring: r1, nodes: x}]}\n"
	folder := t.TempDir()
	for name, text := range map[string]string{
		"leaves.conf": "SwitchName=a Nodes=x,y\ninclude more.conf\n", "more.conf": "SwitchName=b Nodes=z\n", "itself.conf": "include itself.conf\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, file, topology, want, warning string }{
		{"a byte order mark", "\ufeff" + tree, "", "t(a[x y] b[z])", ""},
		{"a byte order mark before YAML", "\ufeff" + several, "", "t(a[x y] b[z])", `topology "ib" of ib, other, loop is read`},
		{"a host on two leaves", "SwitchName=a Nodes=x,y\nSwitchName=b Nodes=y,z\nSwitchName=t Switches=a,b\n", "", "t(a[x y] b[z])", `line 2: host "y" is on switches "a" and "b": the first counts`},
		{"a leaf whose hosts are all on another", "SwitchName=a Nodes=x,y\nSwitchName=b Nodes=x\nSwitchName=t Switches=a,b\n", "", "t(a[x y])", `line 2: host "x" is on switches "a" and "b": the first counts`},
		{"both plugins", tree + "BlockName=b1 Nodes=x,y\nBlockName=b2 Nodes=z\nBlockSizes=1\n", "", "t(a[x y] b[z])", "line 4: 2 blocks beside switches: the switches are read"},
		{"both plugins, blocks first", "BlockName=b1 Nodes=x,y\n" + tree, "", "t(a[x y] b[z])", "line 1: 1 block beside switches: the switches are read"},
		{"scontrol, upper switch first", "SwitchName=t Level=1 LinkSpeed=1 Nodes=x,y,z Switches=a,b\nSwitchName=a Level=0 LinkSpeed=1 Nodes=x,y\nSwitchName=b Level=0 LinkSpeed=1 Nodes=z\n", "", "t(a[x y] b[z])", ""},
		{"scontrol, blocks", "BlockName=b1 BlockIndex=0 Nodes=x,y BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=z BlockSize=2\nAggregatedBlock=b1,b2 BlockIndex=2 Nodes=x,y,z BlockSize=4\n", "", "root(b1[x y] b2[z])", ""},
		{"included files", "Include leaves.conf\nSwitchName=t Switches=a,b\n", "", "t(a[x y] b[z])", ""},
		{"a topology by name", several, "other", "b1[x]", `topology "other" of ib, other, loop is read`},
		{"of a plugin that is not read", several, "loop", "", "have ring"},
		{"a name that is not there", several, "eth", "", `no topology "eth": want ib, other or loop`},
		{"a name for a file of one", tree, "ib", "", "only a topology.yaml has several"},
		{"files that include each other", "include itself.conf\n", "", "", "8 files that include each other"},
		{"a file that is not there", "include none.conf\n", "", "", "line 1: include: open "},
		{"topograph", `{"instances": [{"id": "x", "network_layers": ["a", "t"]}, {"id": "y", "network_layers": ["b", "t"]}]}`, "", "t(a[x] b[y])", ""},
	} {
		if !IsFabric([]byte(c.file)) {
			t.Errorf("%s: not known", c.name)
		}
		f, err := ReadFabric([]byte(c.file), &FabricSettings{Topology: c.topology, Folder: folder})
		switch {
		case c.want == "":
			if err == nil || !strings.Contains(err.Error(), c.warning) {
				t.Errorf("%s: %v, %v; want an error with %q", c.name, f, err, c.warning)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case fabricText(f) != c.want || strings.Join(f.Warnings, "; ") != c.warning:
			t.Errorf("%s: %s, %q; want %s, %q", c.name, fabricText(f), f.Warnings, c.want, c.warning)
		}
	}
	for _, other := range []string{"", "a,b\n1,2\n", `{"nodes": []}`, "graph g {}", "- a\n"} {
		if IsFabric([]byte(other)) {
			t.Errorf("%q is taken for a file of a scheduler", other)
		}
	}
}

// billionLaughsYAML is a short file that stands for 10^9 words.
func billionLaughsYAML() string {
	var b strings.Builder
	b.WriteString("- topology: a\n  l0: &l0 [x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "  l%d: &l%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", i), 10), ","))
	}
	return b.String()
}
