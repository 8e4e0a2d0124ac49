// Command figures measures again what README says was measured: it runs the commands of README's table
// of figures one after the other and writes what their benchmarks report, medians with intervals,
// beside what README says, with the machine and the versions it was measured on.
//
//	make bench
//	go run ./internal/figures -only 'predicted|reconstruction' -budget 10m
//
// figures.json and figures.md are written whole after each command, so that what was measured is kept
// if a later one fails or the program is interrupted. Nothing else should run beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
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
	readme := flag.String("readme", "README.md", "`file` with the table of figures")
	only := flag.String("only", "", "measure only figures whose words match this `expression`")
	budget := flag.Duration("budget", time.Minute, "repeat a command until it took this long, or 10 times; once in any case")
	output := flag.String("o", "figures", "write `NAME`.json and NAME.md")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	text, err := os.ReadFile(*readme)
	if err != nil {
		return err
	}
	figures, err := read(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *readme, err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := report{Format: "topocast figures 1", Time: time.Now().UTC().Truncate(time.Second), Machine: describeMachine(ctx)}
	measured := map[string]*result{} // by command: rows may share one
	failed := 0
	for _, f := range figures {
		if !chosen.MatchString(f.What) {
			continue
		}
		fmt.Printf("%s\n  %s\n", f.What, f.Command)
		if measured[f.Command] == nil {
			measured[f.Command] = measure(ctx, f.Command, *budget)
		}
		row := *measured[f.Command]
		row.figure = f
		if row.Error != "" {
			failed++
			fmt.Printf("  %s\n", row.Error)
		}
		r.Figures = append(r.Figures, row)
		if err := r.write(*output); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %s.md has what was measured before", *output)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d commands failed; see %s.md", failed, len(r.Figures), *output)
	}
	if len(r.Figures) == 0 {
		return errors.New("no figure matches")
	}
	return nil
}
