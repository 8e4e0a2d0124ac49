package table

import (
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
)

// along is a tuning with a choice along groups of its own on two levels, and one that knows no groups.
func along(job Job) Tuning {
	t := tuned(job)
	t.Topologies = []Topology{
		{"pods", [][][]int{{{0, 1}, {4, 5}}, {{0, 1, 2, 3}}}},
		{"flat", nil},
	}
	t.Cells[1].Topology, t.Cells[2].Topology = "pods", "flat"
	return t
}

// What choices follow goes through the file with them and becomes the same groups again.
func TestTopologiesStayWithTheirChoices(t *testing.T) {
	job, at := job8()
	first, err := (&Table{}).With(along(job))
	if err != nil {
		t.Fatal(err)
	}
	n, err := first.Keep(network(t, at))
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	if n, err = model.Read(strings.NewReader(file.String())); err != nil {
		t.Fatal(err)
	}
	read, err := Of(n)
	if err != nil || !same(read.Tunings(), first.Tunings()) {
		t.Fatalf("%+v, %v, want %+v", read, err, first)
	}
	pods := read.Find(job).Topologies[0]
	tree, err := pods.Tree(8)
	if err != nil || !reflect.DeepEqual(Levels(tree), pods.Levels) || tree.Common(0, 1) == tree.Common(0, 2) || tree.Common(0, 4) != 0 {
		t.Errorf("groups %v, %v, want %v", Levels(tree), err, pods.Levels)
	}
}

// Choices of an older tuning of the same job stay with what they follow; those along a topology that is another one
// now do not.
func TestOlderChoicesKeepTheirTopology(t *testing.T) {
	job, _ := job8()
	first, err := (&Table{}).With(along(job))
	if err != nil {
		t.Fatal(err)
	}
	later := tuned(job)
	later.Topologies = []Topology{{"pods", [][][]int{{{2, 3}}}}}
	later.Cells = []Cell{{16, 0, Choice{"chain", "pods", 0, false, 1, 2, 9}}}
	second, err := first.With(later)
	if err != nil {
		t.Fatal(err)
	}
	got := second.Find(job)
	var cells []string
	for _, c := range got.Cells {
		cells = append(cells, c.Algorithm+" ("+c.Topology+")")
	}
	if want := []string{"native ()", "chain (pods)", "chain (flat)", "flat ()"}; !reflect.DeepEqual(cells, want) {
		t.Errorf("cells %q, want %q", cells, want)
	}
	if len(got.Topologies) != 2 || !SameLevels(got.Topologies[0].Levels, later.Topologies[0].Levels) || got.Topologies[1].Name != "flat" {
		t.Errorf("topologies %+v, want the later pods, and flat", got.Topologies)
	}
}
