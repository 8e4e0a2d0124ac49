package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
)

// threadGroups lists levels with their kinds, fine to coarse, and the hardware threads of their groups.
func threadGroups(h *topology.Hierarchy, cpus []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d threads", len(cpus))
	for i, l := range h.Levels() {
		fmt.Fprintf(&b, "; %s/%s", l.Name, l.Kind)
		for _, g := range h.GroupsAt(i) {
			var own []int
			for _, x := range g.Hosts {
				own = append(own, cpus[x])
			}
			slices.Sort(own)
			b.WriteString(" " + hostlist.Numbers(own))
		}
	}
	return b.String()
}

// hybridFile is the tree of a processor with one core of two threads, and two of one that share their L2.
const hybridFile = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x0000000f">
 <info name="hwlocVersion" value="2.9.0"/>
 <object type="Package" os_index="0" cpuset="0x0000000f"><object type="NUMANode" os_index="0" cpuset="0x0000000f"/>
  <object type="L3Cache" cpuset="0x0000000f" depth="3">
   <object type="L2Cache" cpuset="0x00000005" depth="2"><object type="Core" os_index="0"><object type="PU" os_index="0"/><object type="PU" os_index="2"/></object></object>
   <object type="L2Cache" cpuset="0x0000000a" depth="2"><object type="Core" os_index="1"><object type="PU" os_index="1"/></object><object type="Core" os_index="2"><object type="PU" os_index="3"/></object></object>
  </object></object>
 <object type="Bridge" gp_index="4"><object type="PCIDev" gp_index="5"/></object>
</object><support name="discovery.pu"/></topology>`

// oldFile is of hwloc 1, where memory holds the processors and types are spelled otherwise.
const oldFile = `<topology><object type="Machine"><object type="NUMANode" os_index="0" cpuset="0x3"><object type="Socket"><object type="Cache" depth="3">
<object type="Cache" depth="2"><object type="Core"><object type="PU" os_index="0"/></object></object><object type="Cache" depth="2"><object type="Core"><object type="PU" os_index="2"/></object></object></object></object></object>
<object type="NUMANode" os_index="1"><object type="Socket"><object type="Cache" depth="3"><object type="Core"><object type="PU" os_index="1"/></object><object type="Core"><object type="PU" os_index="33"/></object></object></object></object></object></topology>`

func TestReadHwloc(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unlike cores", hybridFile, "4 threads; core/core 0,2; L2/cache 1,3"},
		{"version 1", oldFile, "4 threads; socket/socket 0,2 1,33"},
		{
			"memory by its set", `<topology version="2.0"><object type="Machine"><object type="Package"><object type="NUMANode" cpuset="0x00000001,0x00000001"/><object type="NUMANode" cpuset="0x6"/>
<object type="PU" os_index="0"/><object type="PU" os_index="1"/><object type="PU" os_index="2"/><object type="PU" os_index="32"/></object><object type="Package"><object type="PU" os_index="5"/></object></object></topology>`,
			"5 threads; NUMA/numa 0,32 1-2; socket/socket 0-2,32",
		},
		{
			"threads that a job may not use", `<topology version="2.0"><object type="Machine" cpuset="0xff" allowed_cpuset="0x0f"><object type="Package" cpuset="0xff">
<object type="Core" cpuset="0x3"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object><object type="Core" cpuset="0xc"><object type="PU" os_index="2"/><object type="PU" os_index="3"/></object>
<object type="Core" cpuset="0xf0"><object type="PU" os_index="4"/><object type="PU" os_index="5"/><object type="PU" os_index="6"/><object type="PU" os_index="7"/></object></object></object></topology>`,
			"4 threads; core/core 0-1 2-3",
		},
		{"one thread", `<topology><object type="Machine"><object type="PU" os_index="7"/></object></topology>`, "1 threads"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, cpus, err := ReadHwloc(strings.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := threadGroups(h, cpus); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// readSynthetic is ReadHwloc of a synthetic description, whether it looks like one or not.
func readSynthetic(text string) (*topology.Hierarchy, []int, error) {
	m, err := parseSynthetic(text)
	if err != nil {
		return nil, nil, err
	}
	return m.hierarchy()
}

func TestParseSynthetic(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Package:2 [NUMANode(memory=1073741824)] L3Cache:1(size=33554432) Core:2 PU:2", "8 threads; core/core 0-1 2-3 4-5 6-7; socket/socket 0-3 4-7"},
		{"pack:1 [numa] l3:2 l2:2 l1d:1 l1i:1 core:1 pu:1(indexes=0,2,1,3)", "4 threads; L3/cache 0,2 1,3"},
		{"(memory=4GB) numa:2 core:2 pu:1", "4 threads; NUMA/numa 0-1 2-3"},
		{"2 3", "6 threads; group 0/ 0-2 3-5"},
		// The numbers that tests/hwloc/hwloc_synthetic.c of hwloc wants of these: 0,4,2,6,1,5,3,7, and from the 12th on 3,11,19,27 4,12,20,28.
		{"[NUMANode(memory=1073741824)] Package:2 Core:2 PU:2(indexes=4*2:2*2:1*2)", "8 threads; core/core 0,4 1,5 2,6 3,7; socket/socket 0,2,4,6 1,3,5,7"},
		{"Package:2 L3Cache:2(size=20971520) L2Cache:2 L1dCache:2 Core:1 PU:2(indexes=4*8:1*4)", "32 threads; core/core 0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15 16,24 17,25 18,26 19,27 20,28 21,29 22,30 23,31; " +
			"L2/cache 0,8,16,24 1,9,17,25 2,10,18,26 3,11,19,27 4,12,20,28 5,13,21,29 6,14,22,30 7,15,23,31; L3/cache 0-1,8-9,16-17,24-25 2-3,10-11,18-19,26-27 4-5,12-13,20-21,28-29 6-7,14-15,22-23,30-31; " +
			"socket/socket 0-3,8-11,16-19,24-27 4-7,12-15,20-23,28-31"},
		{"group:2 group:2 pu:2", "8 threads; group 1/ 0-1 2-3 4-5 6-7; group 0/ 0-3 4-7"},
		{"pu:1", "1 threads"},
	} {
		h, cpus, err := readSynthetic(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := threadGroups(h, cpus); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Files of both forms are known by their looks.
func TestIsHwloc(t *testing.T) {
	for text, want := range map[string]bool{
		hybridFile: true, "Package:2 [NUMANode(memory=16GB)] L3Cache:1 Core:8 PU:2(indexes=0,1)\n": true, "(memory=4GB) numa:2 core:2 pu:1": true,
		"": false, "2 3\n": false, "0 1\n1 0\n": false, "a b pu:2 c\n": false, "graph g {}": false, "node1 slots:2\n": false,
	} {
		if got := IsHwloc([]byte(text)); got != want {
			t.Errorf("IsHwloc(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestHwlocRefuses(t *testing.T) {
	pu := func(index string) string { return `<object type="PU" os_index="` + index + `"/>` }
	for _, c := range []struct{ file, want string }{
		{"", "EOF"},
		{"<platform/>", "expected element type <topology> but have <platform>"},
		{"<topology/>", "0 machines in the file: want one"},
		{`<topology version="4.0"/>`, `version "4.0": want 1, 2 or 3`},
		{`<topology><object type="Machine"/></topology>`, "no hardware threads"},
		{`<topology><object type="Machine">` + pu("1") + pu("1") + `</object></topology>`, "PU 1 is there twice"},
		{`<topology><object type="Machine">` + pu("4000000000") + `</object></topology>`, `PU with os_index "4000000000": want`},
		{`<topology><object type="Machine"><object type="NUMANode" cpuset="0x111111111"/>` + pu("1") + `</object></topology>`, `NUMANode: cpuset "0x111111111": want words`},
		{`<topology><object type="Machine"><object type="L2Cache"><object type="L3Cache">` + pu("1") + pu("2") + `</object>` + pu("3") + `</object><object type="L3Cache"><object type="L2Cache">` + pu("4") + pu("5") + `</object>` + pu("6") + `</object></object></topology>`, "and the reverse"},
		{"<topology>" + strings.Repeat(`<object type="Group">`, 60) + strings.Repeat("</object>", 60) + "</topology>", "elements nest more than 50 deep"},
		{billionLaughs + `<topology version="&c;"/>`, "invalid character entity &c;"},
	} {
		if _, _, err := ReadHwloc(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ReadHwloc(%.60s) = %v, want one line with %q", c.file, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "want PU as the last level"},
		{"core:4", "want PU as the last level"},
		{"pu:2 core:2", "a level below PU"},
		{"pack:1024 core:1024 pu:1024", "core:1024: want from 1 object to 65536 in all"},
		{"pu:0", "pu:0: want from 1 object"},
		{"pu:99999999999999999999", "want from 1 object"},
		{"rack:2 pu:2", `type "rack": want Package`},
		{"core:2 pu:2(indexes=core)", "want the numbers of all 4 hardware threads"},
		{"core:2 pu:2(indexes=2*2:1*3)", "want the numbers of all 4 hardware threads"},
		{"core:2 pu:2(indexes=2*2)", "want the numbers of all 4 hardware threads"},
		{"core:2 pu:2(indexes=0*2:1*2)", "want the numbers of all 4 hardware threads"},
		{"core:2 pu:2(indexes=4*2:4*2)", "PU 0 is there twice"},
		{"core:2 pu:2(indexes=0,1,1,2)", "PU 1 is there twice"},
		{"core:2 -> pu:2", `"-> pu:2": want levels`},
	} {
		if _, _, err := readSynthetic(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("parseSynthetic(%q) = %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzReadHwloc(f *testing.F) {
	f.Add(hybridFile)
	f.Add(oldFile)
	f.Fuzz(func(t *testing.T, file string) {
		if h, cpus, err := ReadHwloc(strings.NewReader(file)); err == nil && (h.Hosts() != len(cpus) || !slices.IsSorted(cpus)) {
			t.Errorf("%d threads, cpus %v", h.Hosts(), cpus)
		}
	})
}

func FuzzParseSynthetic(f *testing.F) {
	f.Add("Package:2 [NUMANode(memory=1073741824)] L3Cache:1(size=33554432) Core:2 PU:2(indexes=0,1,2,3,4,5,6,7)")
	f.Add("2 3")
	f.Fuzz(func(t *testing.T, text string) {
		if h, cpus, err := readSynthetic(text); err == nil && (h.Hosts() != len(cpus) || !slices.IsSorted(cpus)) {
			t.Errorf("%d threads, cpus %v", h.Hosts(), cpus)
		}
	})
}
