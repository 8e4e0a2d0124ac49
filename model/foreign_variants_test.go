package model

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Files of other tools, of the classes of issue 38: hosts, vertices, and the latency and the bandwidth of the first link.
func TestVariantsOfGraphs(t *testing.T) {
	none := math.NaN()
	nodeLink := func(link string) string {
		return `{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}], "links": [{"source": "a", "target": "s", ` + link + `}, {"source": "b", "target": "s"}]}`
	}
	star := func(routes string) string {
		return `<platform version="4.1"><zone id="a" routing="Star"><host id="h1" speed="1Gf"/><host id="h2" speed="1Gf"/>` +
			`<link id="l1" bandwidth="1Gbps" latency="1us"/><link id="l2" bandwidth="1Gbps" latency="1us"/>` + routes + `</zone></platform>`
	}
	for _, c := range []struct {
		name, file         string
		hosts, vertices    int
		latency, bandwidth float64
	}{
		{"scontrol with (null) for no switches", "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=l[1-2]\nSwitchName=l1 Level=0 Nodes=n[1-2] Switches=(null)\nSwitchName=l2 Level=0 Nodes=n[3-4] Switches=(null)\n", 4, 7, none, none},
		{"topology.conf with keys in any case", "switchname=l1 NODES=n[1-2]\n", 2, 3, none, none},
		{"topology.conf with a byte order mark and a line that goes on", "\ufeffSwitchName=l1 \\\r\n  Nodes=n[1-2]\r\n", 2, 3, none, none},
		{"topology.yaml whose default comes first", "- cluster_default: true\n  topology: a\n  tree:\n    switches:\n      - switch: l1\n        nodes: n[1-2]\n", 2, 3, none, none},
		{"topology.yaml with another plugin beside", "- topology: f\n  flat: true\n- topology: a\n  cluster_default: true\n  block:\n    block_sizes: [2]\n    blocks:\n      - block: b\n        nodes: n[1-2]\n", 2, 3, none, none},
		{"delay", `graph { a -- s [delay="10us"]; b -- s }`, 2, 3, 10e-6, none},
		{"bw", `graph { a -- s [bw="10Gbps"]; b -- s }`, 2, 3, none, 1.25e9},
		{"capacity", nodeLink(`"capacity": "10 Gbit/s"`), 2, 3, none, 1.25e9},
		{"link_latency", nodeLink(`"link_latency": "5us", "Link Bandwidth (MB/s)": 10`), 2, 3, 5e-6, 10e6},
		{"milliseconds in a name with a blank", nodeLink(`"Latency [ms]": 5`), 2, 3, 5e-3, none},
		{"edges from and to", `{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}], "edges": [{"from": "a", "to": "s", "latency_us": 2}, {"from": "b", "to": "s"}]}`, 2, 3, 2e-6, none},
		{"nodes with names for ids", `{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": "a", "target": "b", "latency_us": 2}]}`, 2, 2, 2e-6, none},
		{"two cables in a multigraph", `{"multigraph": true, "nodes": ["a", "b"], "links": [{"source": "a", "target": "b", "key": 0, "bandwidth": "8Gbps"}, {"source": "a", "target": "b", "key": 1, "bandwidth": "8Gbps"}]}`, 2, 2, none, 2e9},
		{"two cables between ports", `graph G { "leaf1":"swp1" -- "spine1":"swp1"; "leaf1":"swp2" -- "spine1":"swp2"; "h1":"e0" -- "leaf1":"swp3"; h2 -- leaf1 }`, 3, 4, none, none},
		{"a star of SimGrid whose routes name one end", star(`<route src="h1"><link_ctn id="l1"/></route><route dst="h2"><link_ctn id="l2"/></route>`), 2, 3, 1e-6, 125e6},
		{"node-link JSON with numbers of nodes for ends", `{"nodes": [{"name": "a"}, {"name": "b"}, {"name": "s"}], "links": [{"source": 0, "target": 2, "latency_us": 2}, {"source": 1, "target": 2}]}`, 2, 3, 2e-6, none},
		{"node-link JSON with pairs for links, and a type that is a number", `{"nodes": [{"id": "a", "type": 0}, {"id": "b", "type": 0}, {"id": "s", "type": 1}], "edges": [["a", "s"], ["b", "s"]]}`, 2, 3, none, none},
		{"DOT with a byte order mark", "\ufeffgraph { a -- s [delay=\"10us\"]; b -- s }", 2, 3, 10e-6, none},
		{"node-link JSON with a byte order mark", "\ufeff" + nodeLink(`"capacity": "10 Gbit/s"`), 2, 3, none, 1.25e9},
		{"TGF with a byte order mark", "\ufeff1 a\n2 b\n3 s\n#\n1 3 l: 1\n2 3\n", 2, 3, 1e-6, none},
		{"GraphML in Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><graphml><graph edgedefault=\"undirected\"><node id=\"n\xe4\"/><node id=\"b\"/><node id=\"s\"/><edge source=\"n\xe4\" target=\"s\"/><edge source=\"b\" target=\"s\"/></graph></graphml>", 2, 3, none, none},
		{"roles in DOT", `graph { a [role=server]; b [role=server]; s [role=leaf]; t [type=spine]; a -- s [latency_us=1]; b -- s; s -- t }`, 2, 4, 1e-6, none},
		{"a star of SimGrid with loopbacks", star(`<route src="h1" dst="h1"><link_ctn id="l1"/></route><route src="h1"><link_ctn id="l1"/></route><route src="h2"><link_ctn id="l2"/></route>`), 2, 3, 1e-6, 125e6},
	} {
		n, err := DecodeFile("", []byte(c.file), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		g := n.Graph()
		a := g.Arcs()[0]
		got, want := fmt.Sprint(g.Hosts(), g.Vertices(), a.Latency, a.Bandwidth), fmt.Sprint(c.hosts, c.vertices, c.latency, c.bandwidth)
		if got != want {
			t.Errorf("%s: hosts, vertices, latency and bandwidth %s, want %s", c.name, got, want)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"a platform without hosts", `<platform version="4.1"><zone id="a" routing="Full"/></platform>`, "no host is in it"},
		{"a graph without hosts", `{"graph": {"hosts": [], "switches": [], "links": []}}`, "no host is in it"},
		{"DOT without vertices", `graph { }`, "no host is in it"},
		{"GraphML without nodes", `<graphml><graph edgedefault="undirected"/></graphml>`, "no host is in it"},
		{"node-link JSON without nodes", `{"nodes": [], "links": []}`, "no node is in it"},
		{"an object", `{}`, "no network: want"},
		{"a capacity without a unit", nodeLink(`"capacity": 3`), `capacity "3" has no unit: name it capacity_Bps`},
		{"an unknown key in a topology.yaml", "- topology: a\n  tree:\n    switches:\n      - switch: l1\n        nodes: n1\n        speed: 100\n", "topology.yaml: line 6: field speed not found"},
		{"a list for a string in a topology.yaml", "- topology: a\n  tree:\n    switches:\n      - switch: l1\n        nodes: [n1, n2]\n", "topology.yaml: line 5: cannot unmarshal"},
		{"DOT in UTF-16", "\xff\xfeg\x00r\x00a\x00p\x00h\x00", "the file is in UTF-16: save it as UTF-8"},
		{"topology.conf in UTF-16 without a mark", "S\x00w\x00i\x00", "if it is in UTF-16, save it as UTF-8"},
		{"GraphML in an encoding that few use", `<?xml version="1.0" encoding="EBCDIC"?><graphml/>`, "save it as UTF-8"},
		{"two documents of GraphML", strings.Repeat(`<graphml><graph edgedefault="undirected"><node id="a"/></graph></graphml>`, 2), "the file goes on after </graphml>"},
		{"NaN of Python", nodeLink(`"latency_us": NaN`), "JSON has no NaN and no Infinity: write null"},
		{"GEXF", `<?xml version="1.0"?><gexf version="1.2"><graph/></gexf>`, "is GEXF: want GraphML"},
		{"iblinkinfo -l", "0x0002c90200404ad8 \"SwitchX\"      4    3[  ] ==( 4X 25.78 Gbps Active/  LinkUp)==>  0x0002c903000e0b72     15    1[  ] \"exe2 HCA-1\" ( )\n", "is of iblinkinfo: want what ibnetdiscover prints"},
		{"iblinkinfo", "CA: n1 mlx5_0:\n      0xb8599f0300000001      3    1[  ] ==( 4X 25.78125 Gbps Active/ LinkUp)==>  1 1[  ] \"SW1\" ( )\n", "is of iblinkinfo: want what ibnetdiscover prints"},
		{"ibnetdiscover -p", "CA    47  1 0xf45214030056f0b2 4x FDR - SW     1 13 0xf452140300e4cc60 ( 'node01 HCA-1' - 'SwitchX -  Mellanox Technologies' )\n", "is of ibnetdiscover -p: want what"},
		{"nvidia-smi topo -m", "\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n", "names kinds of links, as nvidia-smi topo prints them"},
		{"NCCL's topology", `<system version="1"><cpu numaid="0"/></system>`, "is NCCL's description of one host"},
		{"the text of lstopo", "Machine (16GB total)\n  Package L#0\n    Core L#0 + PU L#0 (P#0)\n", "want lstopo --of xml"},
		{"lldpctl", `{"lldp": {"interface": []}}`, "lists the neighbours of one host"},
		{"GML", "graph [\n  node [ id 0 label \"a\" ]\n]\n", "is GML"},
	} {
		n, err := DecodeFile("", []byte(c.file), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "encode.slurm") {
			t.Errorf("%s: %v, %v, want an error with %q", c.name, n, err, c.want)
		}
	}
}
