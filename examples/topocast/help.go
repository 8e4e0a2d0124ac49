package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the width of help: that of a terminal which nobody has widened.
const helpWidth = 80

// fitHelp makes the help of all commands fit into helpWidth columns.
func fitHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, c := range withAllBelow(root) {
		c.Long = fill(c.Long, helpWidth)
	}
}

// withAllBelow is a command and all commands below it.
func withAllBelow(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		all = append(all, withAllBelow(below)...)
	}
	return all
}

// fill breaks the lines of paragraphs anew. Lines that begin with a blank are
// tables and stay as they are.
func fill(text string, width int) string {
	var out strings.Builder
	column := 0 // 0: at the start of a paragraph
	end := func() {
		if column > 0 {
			out.WriteByte('\n')
			column = 0
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == ' ' {
			end()
			out.WriteString(line + "\n")
			continue
		}
		for word := range strings.FieldsSeq(line) {
			switch {
			case column == 0:
			case column+1+len(word) > width:
				end()
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += len(word)
		}
	}
	end()
	return strings.TrimRight(out.String(), "\n")
}
