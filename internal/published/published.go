package published

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cpulist"
)

//go:embed papers cores apple clusters fabrics wan
var files embed.FS

// A Machine is a set of hosts or cores whose latencies were published.
type Machine struct {
	Name         string       // directory and file: "cores/graviton2"
	Measurements []*mat.Dense // s, one matrix per repetition; NaN: not measured, and the diagonal
	Levels       []Level      // known groups, from fine to coarse; none: there are none, or none is known
}

// A Level is the groups of one kind. A host in no group is alone at this level.
type Level struct {
	Name   string // "core", "L3", "socket", "node", ...
	Groups [][]int
	Asked  bool // the measurements show these groups; else a method may report them
}

// Machines are the machines of the directories, directory by directory and ordered by name.
func Machines(directories ...string) []Machine {
	var list []Machine
	for _, dir := range directories {
		for _, name := range Names() {
			if path.Dir(name) == dir && !strings.Contains(name, ".rep") {
				list = append(list, Read(name))
			}
		}
	}
	return list
}

// Names are the names of all matrices, sorted. A repetition has a name of its own.
func Names() []string {
	all, err := fs.Glob(files, "*/*.csv")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for k, file := range all {
		all[k] = strings.TrimSuffix(file, ".csv")
	}
	return all
}

// Text is the file of a matrix, "wan/wan_seattle_99" say. It panics if there is none.
func Text(name string) string {
	text, err := files.ReadFile(name + ".csv")
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	return string(text)
}

// Table is one table of Bufe 2014, "3.6" say, in s; tables without a unit count as
// microseconds. It panics if the table is not here.
func Table(number string) *mat.Dense {
	prefix := "papers/bufe_t" + strings.ReplaceAll(number, ".", "_")
	for _, name := range Names() {
		if name == prefix || strings.HasPrefix(name, prefix+"_") {
			return Read(name).Measurements[0]
		}
	}
	panic("published: no table " + number)
}

// Read is one machine with all repetitions. It panics if there is none of that name.
func Read(name string) Machine {
	m := Machine{Name: name}
	first, levels, err := parse(Text(name))
	if err != nil {
		panic(fmt.Sprintf("published: %s: %v", name, err))
	}
	m.Measurements, m.Levels = []*mat.Dense{first}, levels
	for _, repetition := range Names() {
		if strings.HasPrefix(repetition, name+".rep") {
			next, _, err := parse(Text(repetition))
			if err != nil {
				panic(fmt.Sprintf("published: %s: %v", repetition, err))
			}
			m.Measurements = append(m.Measurements, next)
		}
	}
	return m
}

// exponents turns numbers in a unit into s without rounding twice.
var exponents = map[string]string{"ms": "e-3", "us": "e-6", "ns": "e-9"}

// parse reads a file as this package has them; encode.ReadMatrix, which reads
// more, cannot be used below package topology.
func parse(text string) (*mat.Dense, []Level, error) {
	var (
		rows   [][]string
		levels []Level
		unit   string
	)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		comment, isComment := strings.CutPrefix(line, "# ")
		key, value, _ := strings.Cut(comment, ": ")
		what, level, _ := strings.Cut(key, " ")
		switch {
		case !isComment:
			rows = append(rows, strings.Split(line, ","))
		case key == "unit":
			unit = value
		case what == "asked" || what == "allowed":
			groups, err := parseGroups(value)
			if err != nil {
				return nil, nil, err
			}
			levels = append(levels, Level{level, groups, what == "asked"})
		}
	}
	exponent, ok := exponents[unit]
	if !ok {
		return nil, nil, fmt.Errorf("unit %q", unit)
	}
	n := len(rows)
	d := mat.NewDense(n, n, nil)
	for i, row := range rows {
		if len(row) != n {
			return nil, nil, fmt.Errorf("row %d has %d cells, want %d", i, len(row), n)
		}
		for j, cell := range row {
			v := math.NaN()
			if cell != "" && i != j {
				var err error
				if v, err = strconv.ParseFloat(cell+exponent, 64); err != nil {
					return nil, nil, fmt.Errorf("cell (%d,%d): %w", i, j, err)
				}
			}
			d.Set(i, j, v)
		}
	}
	return d, levels, nil
}

// parseGroups reads "0-3,8 4-7": groups of hosts and ranges of hosts.
func parseGroups(text string) ([][]int, error) {
	var groups [][]int
	for field := range strings.FieldsSeq(text) {
		group, err := cpulist.List(field)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", field, err)
		}
		groups = append(groups, group)
	}
	return groups, nil
}
