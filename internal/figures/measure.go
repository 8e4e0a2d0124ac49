package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/topocast/topocast/internal/jsonfile"
)

const (
	mostRuns   = 10
	confidence = 0.95
)

// A result is what a command has measured.
type result struct {
	Time       time.Time   `json:"time"`
	Machine    machine     `json:"machine"`
	Runs       int         `json:"runs"`
	Seconds    float64     `json:"seconds"` // of all runs
	Benchmarks []benchmark `json:"benchmarks"`
	Error      string      `json:"error,omitempty"`

	output string // of the last run: tables that benchmarks print
}

// A benchmark is one value that a benchmark reports, over its N results.
type benchmark struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"` // as the benchmark writes it
	N      int     `json:"n"`
	Median float64 `json:"median"`
	// Bounds of the 95 % interval of the median, absent where the results are too few to tell.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`

	values []float64
}

// measure runs a command in the shell, again and again within the budget.
func measure(ctx context.Context, command string, budget time.Duration) *result {
	var r result
	start := time.Now()
	for r.Runs < mostRuns && ctx.Err() == nil && (r.Runs == 0 || time.Since(start) < budget) {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 30 * time.Second
		err := cmd.Run()
		r.Runs++
		r.add(out.Bytes())
		if err != nil {
			r.Error = err.Error()
			break
		}
	}
	r.Seconds = time.Since(start).Seconds()
	for i := range r.Benchmarks {
		r.Benchmarks[i].summarise()
	}
	if r.Error == "" && len(r.Benchmarks) == 0 {
		r.Error = "ran no benchmark"
	}
	return &r
}

// add reads what a run has printed.
func (r *result) add(output []byte) {
	in := benchfmt.NewReader(bytes.NewReader(output), "output")
	for in.Scan() {
		b, ok := in.Result().(*benchfmt.Result)
		if !ok {
			continue // a line of other text that looks like one
		}
		for _, v := range b.Values {
			x, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				x, unit = v.OrigValue, v.OrigUnit
			}
			name := b.Name.String()
			i := slices.IndexFunc(r.Benchmarks, func(b benchmark) bool { return b.Name == name && b.Unit == unit })
			if i < 0 {
				i = len(r.Benchmarks)
				r.Benchmarks = append(r.Benchmarks, benchmark{Name: name, Unit: unit})
			}
			r.Benchmarks[i].values = append(r.Benchmarks[i].values, x)
		}
	}
	r.output = tables(string(output))
}

// spoken are lines of go and make that say nothing of what was measured.
var spoken = regexp.MustCompile(`^(goos|goarch|pkg|cpu): |^(PASS|ok|make)\b|^\?|^Benchmark\S*-\d+\s`)

// tables is what benchmarks print besides their results.
func tables(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		if !spoken.MatchString(line) {
			kept = append(kept, strings.TrimRight(line, " \t\n"))
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

func (b *benchmark) summarise() {
	b.N = len(b.values)
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(b.values, &benchmath.DefaultThresholds), confidence)
	b.Median, b.Low, b.High = s.Center, jsonfile.Known(s.Lo), jsonfile.Known(s.Hi)
	if b.Low == nil || b.High == nil {
		b.Low, b.High = nil, nil
	}
}

// A machine is what figures depend on besides the program.
type machine struct {
	System   string   `json:"system"` // name, release and architecture
	CPUs     int      `json:"cpus"`
	Versions []string `json:"versions"` // of the processor, Go, the MPI libraries and this program
}

// describeMachine asks the programs that know; those that are not there say nothing.
func describeMachine(ctx context.Context) machine {
	m := machine{System: firstLine(ctx, "uname", "-srm"), CPUs: runtime.NumCPU(), Versions: []string{}}
	for _, ask := range [][]string{
		{"sh", "-c", `grep -m1 "model name" /proc/cpuinfo | sed "s/.*: //"`},
		{"go", "version"},
		{"mpirun.openmpi", "--version"},
		{"sh", "-c", `mpichversion | sed -n "s/^MPICH Version:[ \t]*/MPICH /p"`},
		{"git", "describe", "--always", "--dirty"},
	} {
		if line := firstLine(ctx, ask[0], ask[1:]...); line != "" {
			m.Versions = append(m.Versions, line)
		}
	}
	return m
}

func firstLine(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
