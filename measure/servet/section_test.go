package servet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// reread writes sections into a file and reads them back, alone and merged with themselves.
func reread(t *testing.T, ranks int, sections ...*record.Section) (read, merged *record.File) {
	t.Helper()
	head := record.Header{Ranks: ranks, GoVersion: "go1", Platform: "linux/amd64"}
	for range ranks {
		head.Hosts, head.Cores = append(head.Hosts, "h"), append(head.Cores, -1)
		head.CPUs, head.GOMAXPROCS = append(head.CPUs, 1), append(head.GOMAXPROCS, 1)
	}
	file := &record.File{Header: head, Sections: sections}
	var b bytes.Buffer
	if err := file.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := record.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if merged, err = record.Merge(file, file); err != nil {
		t.Fatal(err)
	}
	return read, merged
}

// ringsFrom is the result that a section of Distance or Access keeps.
func ringsFrom(t *testing.T, s *record.Section) *Result {
	t.Helper()
	var settings ringSettings
	if err := json.Unmarshal(s.Settings, &settings); err != nil {
		t.Fatal(err)
	}
	r := &Result{What: s.Kind, Bytes: s.Sizes[0], Hosts: settings.Hosts, Repetitions: settings.Repetitions, Stopped: s.Stopped, Warnings: s.Warnings}
	for k := range s.NumRows() {
		number := func(column string) float64 { return s.Row(k)[s.Column(column)] }
		whole := func(column string) int { return int(number(column)) }
		if n := len(r.Steps); n == 0 || r.Steps[n-1].At != whole("at") {
			r.Steps = append(r.Steps, Step{At: whole("at"), Hosts: whole("hosts")})
		}
		step := &r.Steps[len(r.Steps)-1]
		transfer := model.Transfer{Src: whole(record.ColumnFrom), Dst: whole(record.ColumnTo), Bytes: int64(settings.Bytes)}
		i := slices.Index(step.Transfers, transfer)
		if i < 0 {
			i = len(step.Transfers)
			step.Transfers = append(step.Transfers, transfer)
			step.times = append(step.times, slices.Repeat([]float64{math.NaN()}, r.Repetitions))
		}
		step.times[i][whole(record.ColumnRepetition)] = number("seconds_s")
	}
	for i := range r.Steps {
		r.Steps[i].summarise()
	}
	return r
}

func TestSectionsKeepDistanceAndAccess(t *testing.T) {
	distance, _ := simulated(t, "ring:9 latency=1us", Distance, &Settings{Bytes: 1 << 20, Repetitions: 3}, nil)
	access, _ := simulated(t, "core:2 host:3 rate=1Gbps,100Gbps", Access, &Settings{Bytes: 1 << 20, Repetitions: 2}, nil)
	for _, want := range []*Result{distance, access} {
		read, merged := reread(t, 9, want.Section())
		got := ringsFrom(t, read.Section(want.What))
		want.Took = 0 // not kept
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v\nwant %+v", got, want)
		}
		var both ringSettings
		if err := json.Unmarshal(merged.Section(want.What).Settings, &both); err != nil {
			t.Fatal(err)
		}
		if rows := merged.Section(want.What).NumRows(); both.Repetitions != 2*want.Repetitions || rows != 2*read.Section(want.What).NumRows() {
			t.Errorf("merged: %d repetitions in %d rows, want twice those of %+v", both.Repetitions, rows, want)
		}
	}
	// What a budget has cut off is not there.
	short, _ := simulated(t, "star:20 latency=1us rate=800Mbps", Distance, &Settings{Bytes: 1_000_000, Control: harness.Control{Budget: 60 * time.Millisecond}}, nil)
	read, _ := reread(t, 20, short.Section())
	got := ringsFrom(t, read.Section(WhatDistance))
	if len(got.Steps) != 5 || got.Stopped != harness.StoppedByBudget || len(observations(got)) != 5 || read.Sections[0].Rounds != 5 || read.Sections[0].TotalRounds != 50 {
		t.Errorf("%d steps, stopped by %q, %d of %d rounds, want 5, the budget, 5 of 50", len(got.Steps), got.Stopped, read.Sections[0].Rounds, read.Sections[0].TotalRounds)
	}
}

// text is all that a value holds; NaN is like NaN.
func text(v any) string { return fmt.Sprintf("%+v", v) }

func TestSectionsKeepWhatIsInside(t *testing.T) {
	var memory, caches *InsideResult
	onMachine(t, hector(), 2, 4, &InsideSettings{Bytes: 32 << 20, Repetitions: 2}, func(comm mpi.Communicator, s *InsideSettings) error {
		m, err := Memory(context.Background(), comm, s)
		if err != nil {
			return err
		}
		c, err := Caches(context.Background(), comm, s)
		if m != nil {
			memory, caches = m, c
		}
		return err
	})
	read, merged := reread(t, 8, memory.Section(), caches.Section())
	m, err := InsideFromSection(read.Section(KindMemory))
	if err != nil {
		t.Fatal(err)
	}
	c, err := InsideFromSection(read.Section(KindCache))
	if err != nil {
		t.Fatal(err)
	}
	memory.Took, caches.Took = 0, 0 // not kept
	if text(m) != text(memory) || text(c) != text(caches) {
		t.Errorf("read %s and %s\nwant %s and %s", text(m), text(c), text(memory), text(caches))
	}
	if m, err = InsideFromSection(merged.Section(KindMemory)); err != nil || text(m.Resources) != text(memory.Resources) {
		t.Errorf("merged %v, %v, want the resources %v", m, err, memory.Resources)
	}
	if c, err = InsideFromSection(merged.Section(KindCache)); err != nil || text(c.Resources) != text(caches.Resources) {
		t.Errorf("merged %v, %v, want the resources %v", c, err, caches.Resources)
	}
}

func TestSectionsAreChecked(t *testing.T) {
	inside := func(change func(*record.Section)) error {
		s := &record.Section{Kind: KindMemory, Columns: insideColumns(valueOf(KindMemory)), Settings: json.RawMessage(`{"bytes":8,"hosts":[[0,1]]}`), Rows: []float64{1, 8, 1e9, 0, 0, 1}}
		change(s)
		_, err := InsideFromSection(s)
		return err
	}
	set := func(i int, v float64) func(*record.Section) { return func(s *record.Section) { s.Rows[i] = v } }
	settings := func(text string) func(*record.Section) {
		return func(s *record.Section) { s.Settings = json.RawMessage(text) }
	}
	if err := inside(func(*record.Section) {}); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*record.Section){
		func(s *record.Section) { s.Kind = "latency" }, func(s *record.Section) { s.Columns[1] = "x" },
		settings("null"), settings("[]"), set(0, -1), set(0, 0.5), set(2, 0), set(2, math.NaN()), set(3, 1e12), set(5, math.NaN()),
		set(0, numParts), set(5, 2), settings(`{"bytes":8,"hosts":[[0,0]]}`), settings(`{"bytes":8,"hosts":[[0,1],[]]}`), settings(`{"bytes":0,"hosts":[[0,1]]}`),
	} {
		if err := inside(change); err == nil {
			t.Errorf("change %d is accepted", i)
		}
	}
}
