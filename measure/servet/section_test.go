package servet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
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

func TestSectionsKeepDistanceAndAccess(t *testing.T) {
	distance, _ := simulated(t, "ring:9 latency=1us", Distance, &Settings{Bytes: 1 << 20, Repetitions: 3}, nil)
	access, _ := simulated(t, "core:2 host:3 rate=1Gbps,100Gbps", Access, &Settings{Bytes: 1 << 20, Repetitions: 2}, nil)
	for _, want := range []*Result{distance, access} {
		read, merged := reread(t, 9, want.Section())
		got, err := FromSection(read.Section(want.What))
		if err != nil {
			t.Fatal(err)
		}
		want.Took, want.planned = 0, 0 // not kept
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v\nwant %+v", got, want)
		}
		both, err := FromSection(merged.Section(want.What))
		if err != nil {
			t.Fatal(err)
		}
		if both.Repetitions != 2*want.Repetitions || len(both.Steps) != len(want.Steps) || len(both.Steps[0].Bandwidths) != 2*len(want.Steps[0].Bandwidths) ||
			math.Abs(both.Steps[0].Bandwidth()/want.Steps[0].Bandwidth()-1) > 1e-9 {
			t.Errorf("merged %+v, want twice the repetitions of %+v", both, want)
		}
	}
	// What a budget has cut off is not there.
	short, _ := simulated(t, "star:20 latency=1us rate=800Mbps", Distance, &Settings{Bytes: 1_000_000, Budget: 45 * time.Millisecond}, nil)
	read, _ := reread(t, 20, short.Section())
	got, err := FromSection(read.Section(WhatDistance))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 5 || got.Stopped != harness.StoppedByBudget || len(got.Observations()) != 5 || read.Sections[0].Rounds != 5 || read.Sections[0].TotalRounds != 50 {
		t.Errorf("%d steps, stopped by %q, %d of %d rounds, want 5, the budget, 5 of 50", len(got.Steps), got.Stopped, read.Sections[0].Rounds, read.Sections[0].TotalRounds)
	}
}

// text is all that a value holds; NaN is like NaN.
func text(v any) string { return fmt.Sprintf("%+v", v) }

func TestSectionsKeepWhatIsInside(t *testing.T) {
	var memory *MemoryResult
	var caches *CacheResult
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
	m, err := MemoryFromSection(read.Section(KindMemory))
	if err != nil {
		t.Fatal(err)
	}
	c, err := CachesFromSection(read.Section(KindCache))
	if err != nil {
		t.Fatal(err)
	}
	memory.Took, caches.Took = 0, 0 // not kept
	if text(m) != text(memory) || text(c) != text(caches) {
		t.Errorf("read %s and %s\nwant %s and %s", text(m), text(c), text(memory), text(caches))
	}
	if m, err = MemoryFromSection(merged.Section(KindMemory)); err != nil || text(m.Resources) != text(memory.Resources) {
		t.Errorf("merged %v, %v, want the resources %v", m, err, memory.Resources)
	}
	if c, err = CachesFromSection(merged.Section(KindCache)); err != nil || text(c.Resources) != text(caches.Resources) {
		t.Errorf("merged %v, %v, want the resources %v", c, err, caches.Resources)
	}
}

func TestSectionsAreChecked(t *testing.T) {
	ring := func(change func(*record.Section)) error {
		s := &record.Section{Kind: WhatDistance, Columns: ringColumns(), Settings: json.RawMessage(`{"bytes":8,"hosts":["a","b"],"repetitions":2}`), Rows: []float64{1, 2, 1e-3, 1, 0, 1}}
		change(s)
		_, err := FromSection(s)
		return err
	}
	inside := func(change func(*record.Section)) error {
		s := &record.Section{Kind: KindMemory, Columns: insideColumns(memoryValue), Settings: json.RawMessage(`{"bytes":8,"hosts":[[0,1]]}`), Rows: []float64{1, 8, 1e9, 0, 0, 1}}
		change(s)
		_, err := MemoryFromSection(s)
		return err
	}
	set := func(i int, v float64) func(*record.Section) { return func(s *record.Section) { s.Rows[i] = v } }
	settings := func(text string) func(*record.Section) {
		return func(s *record.Section) { s.Settings = json.RawMessage(text) }
	}
	for name, of := range map[string]func(func(*record.Section)) error{"ring": ring, "inside": inside} {
		if err := of(func(*record.Section) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, change := range []func(*record.Section){
			func(s *record.Section) { s.Kind = "latency" }, func(s *record.Section) { s.Columns[1] = "x" },
			settings("null"), settings("[]"), set(0, -1), set(0, 0.5), set(2, 0), set(2, math.NaN()), set(3, 1e12), set(5, math.NaN()),
		} {
			if err := of(change); err == nil {
				t.Errorf("%s: change %d is accepted", name, i)
			}
		}
	}
	for i, change := range []func(*record.Section){set(0, 0), set(3, 2), set(4, 1)} {
		if err := ring(change); err == nil {
			t.Errorf("ring: own change %d is accepted", i)
		}
	}
	for i, change := range []func(*record.Section){
		set(0, numParts), set(5, 2), settings(`{"bytes":8,"hosts":[[0,0]]}`), settings(`{"bytes":8,"hosts":[[0,1],[]]}`), settings(`{"bytes":0,"hosts":[[0,1]]}`),
	} {
		if err := inside(change); err == nil {
			t.Errorf("inside: own change %d is accepted", i)
		}
	}
}
