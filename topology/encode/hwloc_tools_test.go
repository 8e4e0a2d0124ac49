package encode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// Of machines that lstopo describes, and of this one, we find the sets of threads that hwloc-calc lists, and no
// others; the synthetic description and the XML give the same.
func TestToolsHwloc(t *testing.T) {
	tooltest.Need(t, "lstopo-no-graphics", "hwloc-calc")
	const types = "Package Die NUMANode L3Cache L2Cache L1dCache Core"
	for _, machine := range []string{
		"pack:2 [numa] l3:2 l2:2 core:1 pu:2",
		"pack:2 numa:2 l3:1 core:3 pu:1(indexes=0,4,8,1,5,9,2,6,10,3,7,11)",
		"pack:2 numa:1 l3:1 core:6 pu:2(indexes=2*12:1*2)",
		"pack:1 die:2 [numa] l3:1 l2:2 core:2 pu:1",
		"", // this one
	} {
		var input []string
		if machine != "" {
			input = []string{"-i", machine}
		}
		file := filepath.Join(t.TempDir(), "machine.xml")
		text := tooltest.Run(t, budget, "", "lstopo-no-graphics", append(input, "--of", "xml")...)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, cpus, err := ReadHwloc(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", machine, err)
		}
		synthetic := machine
		if synthetic == "" {
			synthetic = strings.TrimSpace(tooltest.Run(t, budget, "", "lstopo-no-graphics", "--no-io", "--of", "synthetic"))
		}
		other, otherCPUs, err := ReadHwloc(strings.NewReader(synthetic))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := threadGroups(other, otherCPUs), threadGroups(h, cpus); got != want {
			t.Errorf("%s: as text %s, as XML %s", synthetic, got, want)
		}

		var want []string
		for kind := range strings.FieldsSeq(types) {
			count := strings.TrimSpace(tooltest.Run(t, budget, "", "hwloc-calc", "-i", file, "-N", kind, "all"))
			n, err := strconv.Atoi(count)
			if err != nil && count != "" { // "" where the machine has none
				t.Fatal(err)
			}
			for i := range n {
				set := strings.TrimSpace(tooltest.Run(t, budget, "", "hwloc-calc", "-i", file, "--po", "-I", "pu", "--li", fmt.Sprintf("%s:%d", kind, i)))
				if members := strings.Count(set, ",") + 1; members > 1 && members < len(cpus) {
					want = append(want, sortedSet(t, set))
				}
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		var got []string
		for _, g := range h.Groups()[1:] {
			var own []string
			for _, x := range g.Hosts {
				own = append(own, strconv.Itoa(cpus[x]))
			}
			got = append(got, strings.Join(own, ","))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: groups %q, hwloc-calc has %q", synthetic, got, want)
		}
	}
}

// sortedSet is a list of numbers by commas in ascending order.
func sortedSet(t *testing.T, list string) string {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		i, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	slices.Sort(all)
	var words []string
	for _, i := range all {
		words = append(words, strconv.Itoa(i))
	}
	return strings.Join(words, ",")
}
