package encode

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// WriteSlurmConf writes a topology.conf of Slurm, for TopologyPlugin=topology/tree:
//
//	SwitchName=rack-1 Nodes=tux[0-3]
//	SwitchName=rack-2 Nodes=tux[4-7]
//	SwitchName=root Switches=rack-[1-2]
//
// Slurm wants switches to have either nodes or switches. Hosts directly below an upper switch get
// a leaf each, as nothing says that they are nearer to each other than to the rest.
func WriteSlurmConf(w io.Writer, f *Fabric) error { return writeSlurmConf(w, f, "tree") }

// WriteSlurmBlocks writes a topology.conf of Slurm (23.11 or later), for
// TopologyPlugin=topology/block: the hosts of each leaf are a block, in the order of the tree, so
// that near blocks follow each other. BlockSizes is the size of the smallest: Slurm refuses blocks
// that have fewer nodes. Larger sizes are a choice of the site: multiples of it by powers of two may
// be added.
func WriteSlurmBlocks(w io.Writer, f *Fabric) error { return writeSlurmConf(w, f, "block") }

// writeSlurmConf writes the topology for a plugin.
func writeSlurmConf(w io.Writer, f *Fabric, plugin string) (err error) {
	defer naming("topology.conf", &err)
	t, about, err := f.slurm(plugin)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Slurm, topology/%s: %s\n", plugin, about)
	if t.Tree != nil {
		for _, s := range t.Tree.Switches {
			if s.Children != "" {
				fmt.Fprintf(b, "SwitchName=%s Switches=%s\n", s.Switch, s.Children)
			} else {
				fmt.Fprintf(b, "SwitchName=%s Nodes=%s\n", s.Switch, s.Nodes)
			}
		}
		return b.Flush()
	}
	for _, block := range t.Block.Blocks {
		fmt.Fprintf(b, "BlockName=%s Nodes=%s\n", block.Block, block.Nodes)
	}
	fmt.Fprintf(b, "BlockSizes=%d\n", t.Block.Sizes[0])
	return b.Flush()
}

// A slurmReader collects the lines of a topology.conf and of the files that it includes.
type slurmReader struct {
	switchList
	folder string // of the files; "": there are none
	depth  int    // of files in files
}

// readSlurmConf reads a topology.conf of Slurm, of topology/tree or topology/block, or what scontrol show topology prints. Keys may be in
// any case, values in quotes. Text after # is a comment, and a line that ends in a backslash goes
// on in the next. LinkSpeed and BlockSizes are not used. Blocks become leaves below one root; beside switches they are passed over.
//
// Where Slurm only warns, so does Fabric.Warnings: of a host on two switches the first counts. It refuses what Slurm would not take
// for a tree, switches below two switches, switches that are not described, rings, and other keys, with the line. Other files
// (Include) are read if their folder is known.
func readSlurmConf(data []byte, folder string) (_ *Fabric, err error) {
	defer naming("topology.conf", &err)
	s := &slurmReader{folder: folder}
	s.read(data, "")
	return s.fabric()
}

// deepestInclude bounds files that include files.
const deepestInclude = 8

// read reads the lines of a file, of which within is the name, if it is not the first, up to the first error.
func (s *slurmReader) read(data []byte, within string) {
	s.place = within
	data, err := PlainText(data)
	s.check(err)
	number, start := 0, 1
	var text strings.Builder // of a line and those that go on in it
	for line := range strings.Lines(string(data)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		head, goesOn := strings.CutSuffix(strings.TrimRight(line, " \t\n"), `\`)
		text.WriteString(head + " ")
		s.place = fmt.Sprintf("%sline %d: ", within, start)
		if text.Len() > maxLine {
			s.fail("longer than %d bytes", maxLine)
		}
		if !goesOn {
			s.line(text.String())
			text.Reset()
			start = number + 1
		}
		if s.err != nil {
			return
		}
	}
	if text.Len() > 0 {
		s.fail("the file ends where a line should follow")
	}
}

// Blanks may stand around the sign between a key and its value, as Slurm's own parser takes them. A value may stand in quotes. A line may
// name a file to include.
var (
	keyAndValue = regexp.MustCompile(`^([^=]*?)\s*=\s*(?:"([^"]*)"|([^\s"]\S*)|)`)
	includeLine = regexp.MustCompile(`(?i)^\s*include\s+(\S+)\s*$`)
)

// line reads one line.
func (s *slurmReader) line(text string) {
	if m := includeLine.FindStringSubmatch(text); m != nil {
		s.include(m[1])
		return
	}
	values := s.values(text)
	name, isSwitch := values["switchname"]
	block, isBlock := values["blockname"]
	_, sizes := values["blocksizes"]
	_, shown := values["level"] // by scontrol: upper switches list all nodes below
	_, aggregated := values["aggregatedblock"]
	switch {
	case isSwitch && (isBlock || sizes):
		s.fail("a switch and a block")
	case isSwitch:
		s.add(&switchRecord{name: name, isWhole: shown}, values["nodes"], values["switches"])
	case isBlock && values["switches"] == "":
		s.add(&switchRecord{name: block, isBlock: true}, values["nodes"], "")
	case len(values) > 0 && !aggregated && !(sizes && len(values) == 1):
		s.fail("want a line that begins with SwitchName, BlockName or BlockSizes")
	}
}

// include reads the lines of another file.
func (s *slurmReader) include(name string) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(s.folder, name)
	}
	switch {
	case s.folder == "":
		s.fail("it includes %s, and where that is is not known: name the file, or put the lines in", shorten(name))
		return
	case s.depth == deepestInclude:
		s.fail("%d files that include each other: want fewer", deepestInclude)
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		s.fail("include: %v", err)
	}
	s.depth++
	s.read(data, name+", ")
	s.depth--
}

// slurmKeys are the keys of a line, the last four of scontrol show topology.
var slurmKeys = []string{
	"switchname", "blockname", "nodes", "switches", "linkspeed", "blocksizes", "level", "blockindex", "blocksize", "aggregatedblock",
}

// values are the values of a line by their keys, which are in lower case.
func (s *slurmReader) values(text string) map[string]string {
	values := map[string]string{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		m := keyAndValue.FindStringSubmatch(text)
		if m == nil {
			s.fail("%q: want a key and its value", shorten(text))
			return nil
		}
		key, value := strings.ToLower(m[1]), m[2]+m[3]
		text = text[len(m[0]):]
		if value == "(null)" { // so scontrol writes what is not there
			value = ""
		}
		_, twice := values[key]
		switch {
		case !slices.Contains(slurmKeys, key):
			s.fail("key %q: want SwitchName, Switches, Nodes, LinkSpeed, BlockName or BlockSizes", shorten(key))
		case twice:
			s.fail("key %q is there twice", key)
		case strings.HasPrefix(text, `"`):
			s.fail("a quote is not closed")
		}
		values[key] = value
	}
	return values
}
