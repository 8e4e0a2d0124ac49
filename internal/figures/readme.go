package main

import (
	"errors"
	"fmt"
	"strings"
)

// A figure is a row of README's table.
type figure struct {
	What    string `json:"what"`
	Claimed string `json:"readme"` // what README says was measured
	Command string `json:"command"`
}

// read returns the rows of the table whose columns are "what", "figure" and "repeat with".
func read(readme string) ([]figure, error) {
	var rows []figure
	inside := false
	for n, line := range strings.Split(readme, "\n") {
		cells, isRow := cellsOf(line)
		switch {
		case isRow && len(cells) == 3 && cells[2] == "repeat with":
			inside = true
		case !inside || isRow && strings.Trim(cells[0], "-: ") == "":
		case !isRow:
			inside = false
		case len(cells) != 3:
			return nil, fmt.Errorf("line %d: %d columns, want 3", n+1, len(cells))
		default:
			command := strings.Trim(cells[2], "`")
			if command == "" || command == cells[2] {
				return nil, fmt.Errorf("line %d: %q: no command between backquotes", n+1, cells[2])
			}
			rows = append(rows, figure{What: cells[0], Claimed: cells[1], Command: command})
		}
	}
	if rows == nil {
		return nil, errors.New(`no table with a third column "repeat with"`)
	}
	return rows, nil
}

// cellsOf splits a row of a Markdown table. A bar in a cell is written \|.
func cellsOf(line string) (cells []string, isRow bool) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || !strings.HasSuffix(line, "|") {
		return nil, false
	}
	const bar = "\x00"
	line = strings.ReplaceAll(line, `\|`, bar)
	for cell := range strings.SplitSeq(line[1:len(line)-1], "|") {
		cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return cells, true
}
