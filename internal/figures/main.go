// Command figures keeps docs/measured.json, the figures that the project publishes, and what is made of them:
// docs/measured.md and the pictures beside it.
//
//	make bench FIGURES='time|plans'     measure some figures again, by their id
//	go run ./internal/figures -only x   only write the page and the pictures anew
//
// A figure has a command. Its benchmarks are repeated within a budget, and their medians with intervals are
// kept in the file beside what is claimed, with the machine and the versions. The file is written whole after each
// command, so an interrupted run loses nothing. Nothing else should run on the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "figures: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	folder := flag.String("docs", "docs", "`folder` with measured.json")
	only := flag.String("only", "", "measure only figures whose id matches this `expression`; x matches none")
	budget := flag.Duration("budget", time.Minute, "repeat a command until it took this long, or 10 times; once in any case")
	flag.Parse()
	chosen, err := regexp.Compile("^(" + *only + ")")
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	file := filepath.Join(*folder, "measured.json")
	all, err := read(file)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	machine := describeMachine(ctx)
	done := map[string]*result{} // by command: figures may share one
	failed := 0
	for i := range all.Figures {
		f := &all.Figures[i]
		if ctx.Err() != nil {
			return errors.New("interrupted; what was measured before is kept")
		}
		if !chosen.MatchString(f.ID) {
			continue
		}
		fmt.Printf("%s: %s\n  %s\n", f.ID, f.What, f.Command)
		r := done[f.Command]
		if r == nil {
			r = measure(ctx, f.Command, *budget)
			r.Time, r.Machine = time.Now().UTC().Truncate(time.Second), machine
			done[f.Command] = r
			fmt.Println(r.output)
		}
		if r.Error != "" {
			failed++
			fmt.Printf("  %s\n", r.Error)
		}
		f.Last = r
		if err := all.write(file); err != nil {
			return err
		}
	}
	if err := all.publish(*folder); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d commands failed", failed, len(done))
	}
	return nil
}
