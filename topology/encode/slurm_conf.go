package encode

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
)

// WriteSlurmConf writes a topology.conf of Slurm, for TopologyPlugin=topology/tree:
//
//	SwitchName=rack-1 Nodes=tux[0-3]
//	SwitchName=rack-2 Nodes=tux[4-7]
//	SwitchName=root Switches=rack-[1-2]
//
// Slurm wants switches to have either nodes or switches. Hosts directly below an upper switch get
// a leaf each, as nothing says that they are nearer to each other than to the rest.
func WriteSlurmConf(w io.Writer, f *Fabric) error {
	f, err := f.withLeaves()
	if err != nil {
		return fmt.Errorf("encode: topology.conf: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Slurm, topology/tree: %s\n", f.describe())
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		if len(s.Switches) > 0 {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", s.Name, hostlist.Format(s.names()))
		} else {
			fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", s.Name, hostlist.Format(s.Hosts))
		}
	})
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("encode: topology.conf: %w", err)
	}
	return nil
}

// WriteSlurmBlocks writes a topology.conf of Slurm (23.11 or later), for
// TopologyPlugin=topology/block: the hosts of each leaf are a block, in the order of the tree, so
// that near blocks follow each other. BlockSizes is the size of the smallest: Slurm refuses blocks
// that have fewer nodes. Larger sizes are a choice of the site: multiples of it by powers of two may
// be added.
func WriteSlurmBlocks(w io.Writer, f *Fabric) error {
	f, err := f.withLeaves()
	if err != nil {
		return fmt.Errorf("encode: topology.conf: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Slurm, topology/block: %s\n", f.describe())
	smallest := f.blocks(func(s *FabricSwitch) {
		fmt.Fprintf(&b, "BlockName=%s Nodes=%s\n", s.Name, hostlist.Format(s.Hosts))
	})
	fmt.Fprintf(&b, "BlockSizes=%d\n", smallest)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("encode: topology.conf: %w", err)
	}
	return nil
}

// ReadSlurmConf reads a topology.conf of Slurm, of topology/tree or topology/block. Keys may be in
// any case, values in quotes; text after # is a comment, and a line that ends in a backslash goes
// on in the next. LinkSpeed and BlockSizes are not used. Blocks become leaves below one root.
//
// It refuses what Slurm would not take for a tree: hosts and switches below two switches, switches
// that are not described, rings; and other keys, with the line. Other files (Include) are not read.
func ReadSlurmConf(r io.Reader) (*Fabric, error) {
	f, err := readSlurmConf(r)
	if err != nil {
		return nil, fmt.Errorf("encode: topology.conf: %w", err)
	}
	return f, nil
}

func readSlurmConf(r io.Reader) (*Fabric, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var list, blocks switchList
	number, start := 0, 0
	var text strings.Builder // of a line and those in which it goes on
	for lines.Scan() {
		number++
		line, _, _ := strings.Cut(lines.Text(), "#")
		if text.Len() == 0 {
			start = number
		}
		head, goesOn := strings.CutSuffix(strings.TrimRight(line, " \t\r"), `\`)
		text.WriteString(head + " ")
		if text.Len() > maxLine {
			return nil, fmt.Errorf("line %d: longer than %d bytes", start, maxLine)
		}
		if goesOn {
			continue
		}
		if err := slurmLine(&list, &blocks, fmt.Sprintf("line %d", start), text.String()); err != nil {
			return nil, err
		}
		text.Reset()
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes", number+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	case text.Len() > 0:
		return nil, fmt.Errorf("line %d: the file ends where a line should follow", start)
	case len(list.records) > 0 && len(blocks.records) > 0:
		return nil, fmt.Errorf("%s: a block beside switches: want one of both", blocks.records[0].where)
	case len(blocks.records) > 0:
		return blocks.blocks()
	}
	return list.fabric()
}

// blanksAroundEquals may stand between a key and its value, as Slurm's own parser takes them.
var blanksAroundEquals = regexp.MustCompile(`\s*=\s*`)

// slurmLine reads the keys and values of one line.
func slurmLine(list, blocks *switchList, where, text string) error {
	values := map[string]string{}
	text = blanksAroundEquals.ReplaceAllString(text, "=")
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		key, rest, found := strings.Cut(text, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if strings.HasPrefix(key, "include") && strings.ContainsAny(key, " \t") {
			return fmt.Errorf("%s: other files are not read: include them before", where)
		}
		if !found {
			return fmt.Errorf("%s: %q: want a key and its value", where, shorten([]byte(text)))
		}
		var value string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if value, text, found = strings.Cut(quoted, `"`); !found {
				return fmt.Errorf("%s: a quote is not closed", where)
			}
		} else {
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			value, text = rest[:end], rest[end:]
		}
		switch key {
		case "switchname", "blockname", "nodes", "switches", "linkspeed", "blocksizes":
		default:
			return fmt.Errorf("%s: key %q: want SwitchName, Switches, Nodes, LinkSpeed, BlockName or BlockSizes", where, shorten([]byte(key)))
		}
		if _, twice := values[key]; twice {
			return fmt.Errorf("%s: key %q is there twice", where, key)
		}
		values[key] = value
	}
	name, isSwitch := values["switchname"]
	block, isBlock := values["blockname"]
	_, sizes := values["blocksizes"]
	switch {
	case isSwitch && (isBlock || sizes):
		return fmt.Errorf("%s: a switch and a block", where)
	case isSwitch:
		return list.add(where, name, values["nodes"], values["switches"])
	case isBlock && values["switches"] == "":
		return blocks.add(where, block, values["nodes"], "")
	case len(values) == 0 || sizes && len(values) == 1:
		return nil
	}
	return fmt.Errorf("%s: want a line that begins with SwitchName, BlockName or BlockSizes", where)
}
