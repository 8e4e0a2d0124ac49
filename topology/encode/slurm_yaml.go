package encode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/topocast/topocast/internal/words"
)

// WriteSlurmYAML writes a topology.yaml of Slurm (25.05 or later) with one topology, a tree as in
// [WriteSlurmConf], called "measured" and the default of the cluster.
func WriteSlurmYAML(w io.Writer, f *Fabric) error { return writeSlurmYAML(w, f, "tree") }

// WriteSlurmBlockYAML writes a topology.yaml of Slurm (25.05 or later) with one topology, blocks as
// in [WriteSlurmBlocks], called "measured" and the default of the cluster.
func WriteSlurmBlockYAML(w io.Writer, f *Fabric) error { return writeSlurmYAML(w, f, "block") }

func writeSlurmYAML(w io.Writer, f *Fabric, plugin string) (err error) {
	defer naming("topology.yaml", &err)
	t, _, err := f.slurm(plugin)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode([]slurmTopology{t}), e.Close()); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// maxYAML is the size of a file in bytes that is read at most.
const maxYAML = 4 << 20

// readSlurmYAML reads a topology.yaml of Slurm: the tree or the blocks of the topology of the given name, without one of its default
// topology, or of the only one. It refuses what readSlurmConf does, and keys that Slurm does not document. The
// library of YAML refuses aliases by which a short file would grow without bound.
func readSlurmYAML(r io.Reader, name string) (_ *Fabric, err error) {
	defer naming("topology.yaml", &err)
	data, err := readAtMost(r, maxYAML)
	if err != nil {
		return nil, err
	}
	var topologies []slurmTopology
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&topologies); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(goType.ReplaceAllString(oneLine(err).Error(), ""))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document")
	}
	var names []string
	for _, t := range topologies {
		names = append(names, t.Topology)
	}
	chosen := slices.IndexFunc(topologies, func(t slurmTopology) bool {
		return name == t.Topology || name == "" && (t.Default || len(topologies) == 1)
	})
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("no topology")
	case chosen < 0 && name != "":
		return nil, fmt.Errorf("no topology %q: want %s", name, words.Or(names))
	case chosen < 0:
		return nil, fmt.Errorf("none of its topologies is the default of the cluster: choose %s", words.Or(names))
	}
	t := topologies[chosen]
	var list switchList
	if len(topologies) > 1 {
		list.warnings = []string{fmt.Sprintf("topology %q of %s is read", t.Topology, words.List(names))}
	}
	kinds := slices.Sorted(maps.Keys(t.Other))
	switch {
	case t.Flat:
		kinds = append(kinds, "flat")
		fallthrough
	case (t.Tree == nil) == (t.Block == nil):
		return nil, fmt.Errorf("topology %q: want either a tree or blocks, have %s", t.Topology, cmp.Or(words.List(kinds), "both or none"))
	case len(kinds) > 0:
		return nil, fmt.Errorf("topology %q: keys %s are not known", t.Topology, words.List(kinds))
	case t.Tree != nil:
		for i, s := range t.Tree.Switches {
			list.place = fmt.Sprintf("topology %q, switch %d: ", t.Topology, i+1)
			list.add(&switchRecord{name: s.Switch}, s.Nodes, s.Children)
		}
	default:
		for i, b := range t.Block.Blocks {
			list.place = fmt.Sprintf("topology %q, block %d: ", t.Topology, i+1)
			list.add(&switchRecord{name: b.Block, isBlock: true}, b.Nodes, "")
		}
	}
	return list.fabric()
}

// goType is what errors of the YAML library say of our types.
var goType = regexp.MustCompile(`yaml: unmarshal errors: | in type encode\.\w+| into \[?\]?encode\.\w+`)
