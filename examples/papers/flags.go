package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// named is an experiment and the name of its command.
type named struct {
	name string
	experiment
}

// playing is a stage and the experiments on it, as flags say.
type playing struct {
	stage stage
	each  []named
}

// begin adds the flags of the stage and, of one source alone, its own. Those of several are at their defaults.
func (p *playing) begin(of []source, f *pflag.FlagSet) {
	p.stage.flags(f, len(of))
	for _, s := range of {
		e := s.begin()
		own := f
		if len(of) > 1 {
			own = pflag.NewFlagSet(s.name, pflag.ContinueOnError)
		}
		e.flags(own)
		p.each = append(p.each, named{s.name, e})
	}
}

// refuseUnused refuses flags that would change nothing. Of several experiments some may have no use for one: that is told.
func (p *playing) refuseUnused(c *cobra.Command, g ground) error {
	for _, e := range p.each {
		unused := e.unused(g, &p.stage)
		if len(p.each) == 1 {
			if err := cli.RefuseUnused(c, "with the other flags as they are it changes nothing in "+g.String(), unused...); err != nil {
				return err
			}
			continue
		}
		if p.stage.full && slices.Contains(unused, "full") && mpi.Launched() <= 0 {
			fmt.Fprintf(c.ErrOrStderr(), "warning: --full changes nothing of %s in %s\n", e.name, g)
		}
	}
	return nil
}

// playedByAll is what the flags of rank 0 say, on all ranks, whatever those of the others are. It is collective.
func playedByAll(comm mpi.Communicator, flags *pflag.FlagSet, of []source) (*playing, error) {
	var given []byte
	var err error
	if comm.Rank() == 0 {
		values := map[string]string{}
		flags.Visit(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
		given, err = json.Marshal(values)
	}
	if err = harness.Agree(comm, err); err != nil {
		return nil, err
	}
	if given, err = harness.Tell(comm, given); err != nil {
		return nil, err
	}
	values := map[string]string{}
	if err := json.Unmarshal(given, &values); err != nil {
		return nil, fmt.Errorf("experiment: flags of rank 0: %w", err)
	}
	p := new(playing)
	f := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
	p.begin(of, f)
	for name, value := range values {
		if f.Lookup(name) == nil {
			continue // of files, which rank 0 alone writes
		}
		if err := f.Set(name, value); err != nil {
			return nil, cli.BadInput("--%s %s: %w", name, value, err)
		}
	}
	return p, nil
}
