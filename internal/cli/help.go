package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/words"
)

// HelpWidth is the width of help and notes in columns: that of a terminal which nobody has widened.
const HelpWidth = 80

// Finish completes a command line when all its commands are there: help fits into HelpWidth columns and
// shows the persistent flags that a command takes, and every mistake in arguments is one line.
func Finish(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage, root.SuggestionsMinimumDistance = true, true, 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if refused := new(InputError); errors.As(err, &refused) {
			return refused // of a flag that says what it takes
		}
		if wrong := new(pflag.InvalidValueError); errors.As(err, &wrong) {
			return BadInput("--%s %s: want %s; see %s --help", wrong.GetFlag().Name, wrong.GetValue(), wantedBy(wrong.GetFlag()), c.CommandPath())
		}
		return BadInput("%w; see %s --help", err, c.CommandPath())
	})
	root.SetHelpCommand(helpCommand())
	cobra.EnableCommandSorting = false // commands stand in the order in which they were added
	cobra.AddTemplateFunc("persistent", persistentUsages)
	usage := strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80")
	from := strings.Index(usage, "{{if .HasAvailableInheritedFlags}}")
	to := from + strings.Index(usage[from:], "{{end}}") + len("{{end}}")
	root.SetUsageTemplate(usage[:from] + "{{persistent .}}" + usage[to:])
	finishCommands(root)
}

// finishCommands does so for a command and all below it.
func finishCommands(top *cobra.Command) {
	for _, c := range withAllBelow(top) {
		c.Long = words.Fill(c.Long, HelpWidth)
		if !c.Runnable() { // it only has commands below it
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		args := c.Args
		if args == nil {
			args = noCommand
		}
		c.Args = func(c *cobra.Command, given []string) error {
			if err := args(c, given); err != nil {
				return BadInput("%w; see %s --help", err, c.CommandPath())
			}
			return nil
		}
	}
}

// wantedBy is what a flag takes.
func wantedBy(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number from 0 on"
	case "duration":
		return "a time with its unit, such as 30s or 5m"
	case "float64":
		return "a number"
	}
	return "another value"
}

// persistentUsages are the lines of help for the persistent flags that a command takes.
func persistentUsages(c *cobra.Command) string {
	if !c.HasParent() {
		return ""
	}
	var shown pflag.FlagSet
	c.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !takes(c, f.Name) || f.Hidden {
			return
		}
		if f.Name == "json" {
			own := *f
			own.Usage = fmt.Sprintf("print JSON (format %s) instead of text", c.Annotations[annotationJSON])
			f = &own
		}
		shown.AddFlag(f)
	})
	if !shown.HasFlags() {
		return ""
	}
	return "\n\nFlags of several commands:\n" + strings.TrimRight(shown.FlagUsagesWrapped(HelpWidth), "\n")
}

// withAllBelow is a command and all commands below it.
func withAllBelow(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		all = append(all, withAllBelow(below)...)
	}
	return all
}

// noCommand refuses arguments of a command that only has commands below it, and suggests one of them.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		err = fmt.Errorf("%w: did you mean %s?", err, words.Or(similar))
	}
	return err
}

// Args takes the named arguments, of which the last optional ones may be missing. If the last name has
// "...", it stands for one or more. A name may carry an explanation: "NET, a file that discover writes".
func Args(optional int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		several := len(names) > 0 && strings.Contains(names[len(names)-1], "...")
		switch {
		case len(args) < len(names)-optional:
			return fmt.Errorf("want %s", names[len(args)])
		case len(args) > len(names) && !several && len(names) == 0:
			return fmt.Errorf("unexpected argument %q: want none", args[0])
		case len(args) > len(names) && !several:
			return fmt.Errorf("unexpected argument %q after %s", args[len(names)], strings.Join(args[:len(names)], " "))
		}
		return nil
	}
}

// helpCommand is the command help, which refuses commands that do not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return BadInput("%w", noCommand(c.Root(), args))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
}
