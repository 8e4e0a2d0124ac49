package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A part is one kind of measurement that topocast measure takes.
type part struct {
	kind string // of the section
	what string // for the help

	// measure is collective; the section is nil on other ranks than 0.
	measure func(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error)

	// streams tells that measure writes the section into the file under way itself, and
	// goes on with an earlier one.
	streams bool
}

// parts are those that there are, in the order in which they are measured.
func parts() []part {
	return []part{
		{measure.KindLatency, "latencies of all pairs of ranks", measureLatency, true},
	}
}

// partSettings are what one part gets; on other ranks than 0 they do not count.
type partSettings struct {
	budget      time.Duration
	date        time.Time
	sizes       []int
	repetitions int
	rounds      int
	network     *model.Network // of --network, or nil

	goingOn  *measure.Result // latencies of an earlier run, or nil
	file     *record.Writer  // the file under way, for a part that streams; nil: there is none
	notify   func(note string)
	progress func(measure.Progress)
}

// parseParts reads --what.
func parseParts(list string) ([]part, error) {
	all := parts()
	var names []string
	for _, p := range all {
		names = append(names, p.kind)
	}
	var chosen []part
	for _, kind := range strings.Split(list, ",") {
		kind = strings.TrimSpace(kind)
		i := slices.Index(names, kind)
		if i < 0 {
			return nil, badInput("--what: %q: want %s", kind, words.Or(names))
		}
		if slices.ContainsFunc(chosen, func(p part) bool { return p.kind == kind }) {
			return nil, badInput("--what: %q: given twice", kind)
		}
		chosen = append(chosen, all[i])
	}
	// In the order of the list: a part may need what the one before has said.
	slices.SortFunc(chosen, func(a, b part) int { return slices.Index(names, a.kind) - slices.Index(names, b.kind) })
	return chosen, nil
}

// partsHelp lists the parts for the help.
func partsHelp() string {
	var b strings.Builder
	for _, p := range parts() {
		fmt.Fprintf(&b, "  %-10s  %s\n", p.kind, p.what)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func measureLatency(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	s := measure.Settings{
		Sizes: p.sizes, Repetitions: p.repetitions, Rounds: p.rounds, Seed: 1, Budget: p.budget, Date: p.date,
		Record: p.file, Notify: p.notify, Progress: p.progress,
	}
	if p.network != nil {
		s.Groups = p.network.Hierarchy()
	}
	if r := p.goingOn; r != nil {
		s.Resume, s.Samples, s.Seed = r, r.Samples, r.Seed
	}
	r, err := measure.Run(ctx, comm, &s)
	if err != nil || r == nil {
		return nil, err
	}
	return r.Section(), nil
}
