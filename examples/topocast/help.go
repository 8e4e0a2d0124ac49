package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/words"
)

// helpWidth is the width of help: that of a terminal which nobody has widened.
const helpWidth = 80

// fitHelp makes the help of all commands fit into helpWidth columns.
func fitHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, c := range withAllBelow(root) {
		c.Long = words.Fill(c.Long, helpWidth)
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
