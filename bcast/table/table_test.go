package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
)

var nan = math.NaN()

// job8 is a job of eight ranks, two per host.
func job8() (Job, []model.Location) {
	at := make([]model.Location, 8)
	for i := range at {
		at[i] = model.Location{Host: fmt.Sprintf("node%02d", i/2), Core: i % 2}
	}
	return Job{"", 8, "Open MPI v4.1.4", Fingerprint(at), ""}, at
}

// tuned is a tuning with roots of two classes.
func tuned(job Job) Tuning {
	return Tuning{Job: job, Date: "2026-11-22T04:00:00Z", RootClass: []int{0, 0, 1, 1, 0, 0, 1, 1}, Cells: []Cell{
		{8, 0, Choice{Native, "", 0, false, 1e-6, 1e-6, 21}},
		{1 << 16, 0, Choice{"multilevel[flat chain]", "", 8192, true, 1e-3, 3e-3, 21}},
		{1 << 20, 0, Choice{"chain", "", 4096, false, 9e-3, 50e-3, 7}},
		{8, 1, Choice{"flat", "", 0, true, 1e-6, nan, 0}},
	}}
}

// network is one of eight hosts in two racks, which knows where its ranks run.
func network(t testing.TB, at []model.Location) *model.Network {
	t.Helper()
	c, err := gen.Parse("tree:2x4 latency=10us,2us")
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{
		Locations: at, LevelBandwidth: []float64{1e9, 1e8},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// same compares texts: NaN is not equal to itself.
func same(a, b any) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

// TestTableStaysWithTheNetwork through its file, views and other settings, but
// not through a new measurement of its times.
func TestTableStaysWithTheNetwork(t *testing.T) {
	job, at := job8()
	n := network(t, at)
	if none, err := Of(n); err != nil || len(none.Tunings()) != 0 || none.Find(job) != nil {
		t.Fatalf("Of(a network without a table) = %v, %v, want none", none, err)
	}
	table, err := (*Table)(nil).With(tuned(job))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := table.Keep(n)
	if err != nil {
		t.Fatal(err)
	}
	if n.Settings().BcastTable != nil {
		t.Error("Keep changed the network")
	}
	file := filepath.Join(t.TempDir(), "network.json")
	if err := kept.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	view, err := loaded.View(at[2:6])
	if err != nil {
		t.Fatal(err)
	}
	typical, _, err := view.OfJob([]model.Location{at[3], {Host: "other", Core: 0}})
	if err != nil {
		t.Fatal(err)
	}
	slowed, err := typical.With(func(s *model.Settings) { s.Degradation = nil })
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]*model.Network{"loaded": loaded, "view": view, "typical": typical, "slowed": slowed} {
		got, err := Of(n)
		if err != nil || !same(got.Tunings(), table.Tunings()) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, table)
		}
	}
	again, err := fit.Update(loaded, &fit.Remeasurement{})
	if err != nil || again.Settings().BcastTable != nil {
		t.Errorf("Remeasured keeps the table, %v", err)
	}
	without, err := loaded.With(func(s *model.Settings) { s.BcastTable = nil })
	if err != nil || without.Settings().BcastTable != nil {
		t.Errorf("With no table = %s, %v", without.Settings().BcastTable, err)
	}
}

func TestSizeClass(t *testing.T) {
	for bytes, want := range map[int64]int64{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 1<<20 - 1: 1 << 20, 1 << 20: 1 << 20,
		1<<61 + 1: 1 << 62, 1 << 62: 1 << 62, 1<<62 + 1: 0, math.MaxInt64: 0,
	} {
		if got := SizeClass(bytes); got != want {
			t.Errorf("SizeClass(%d) = %d, want %d", bytes, got, want)
		}
	}
}

func TestChoice(t *testing.T) {
	job, _ := job8()
	tuning := tuned(job)
	for _, c := range []struct {
		bytes int64
		root  int
		want  string // algorithm, segment, blocking; "": none
	}{
		{0, 0, ""},
		{-1, 0, ""},
		{4, 0, ""}, // 3 to 4 bytes are a class of their own
		{5, 0, "native 0 false"},
		{8, 5, "native 0 false"},
		{8, 2, "flat 0 true"},
		{9, 2, ""},
		{1<<15 + 1, 1, "multilevel[flat chain] 8192 true"},
		{1 << 16, 1, "multilevel[flat chain] 8192 true"},
		{1 << 20, 4, "chain 4096 false"},
		{1 << 20, 3, ""},
		{1<<20 + 1, 0, ""},
		{math.MaxInt64, 0, ""},
		{8, 8, ""},
		{8, -1, ""},
	} {
		got, ok := tuning.Choice(c.bytes, c.root)
		if ok != (c.want != "") || ok && fmt.Sprint(got.Algorithm, " ", got.Segment, " ", got.Blocking) != c.want {
			t.Errorf("Choice(%d, %d) = %v, %v, want %q", c.bytes, c.root, got, ok, c.want)
		}
	}
}

// TestOtherJobsFindNothing: of other ranks, libraries, hosts, cores and orders.
func TestOtherJobsFindNothing(t *testing.T) {
	job, at := job8()
	table, err := (&Table{}).With(tuned(job))
	if err != nil {
		t.Fatal(err)
	}
	if table.Find(job) == nil {
		t.Fatal("the job does not find itself")
	}
	others := map[string]Job{
		"fewer ranks": {"", 4, job.Library, job.Places, ""}, "a later library": {"", 8, "Open MPI v5.0.5", job.Places, ""}, "another transport": {"", 8, job.Library, job.Places, "1"}, "another collective": {Allreduce, 8, job.Library, job.Places, ""},
	}
	for name, change := range map[string]func(at []model.Location){
		"another order": func(at []model.Location) { at[0], at[1] = at[1], at[0] },
		"another host":  func(at []model.Location) { at[7].Host = "node99" },
		"another core":  func(at []model.Location) { at[7].Core = 3 },
		"no binding":    func(at []model.Location) { at[7].Core = -1 },
		"names that run on": func(at []model.Location) {
			at[0].Host, at[1].Host = at[0].Host+at[1].Host, ""
		},
	} {
		moved := append([]model.Location(nil), at...)
		change(moved)
		others[name] = Job{"", 8, job.Library, Fingerprint(moved), ""}
	}
	for name, other := range others {
		if table.Find(other) != nil {
			t.Errorf("%s: found a tuning that is not its", name)
		}
	}
}

// TestWithReplacesAndKeeps: the same job's cells are replaced one by one, unless
// its classes of roots have changed, and the latest job is the last.
func TestWithReplacesAndKeeps(t *testing.T) {
	job, _ := job8()
	first, err := (&Table{}).With(tuned(job))
	if err != nil {
		t.Fatal(err)
	}
	other := Tuning{Job: Job{"", 4, job.Library, job.Places, ""}}
	both, err := first.With(other)
	if err != nil {
		t.Fatal(err)
	}
	more := tuned(job)
	more.Cells = []Cell{{16, 1, Choice{"chain", "", 0, false, 1, 2, 9}}, {8, 0, Choice{"flat", "", 0, false, 1, 2, 9}}}
	merged, err := both.With(more)
	if err != nil {
		t.Fatal(err)
	}
	if got := merged.Tunings(); len(got) != 2 || got[0].Ranks != 4 || got[1].Ranks != 8 {
		t.Errorf("tunings %+v, want that of 4 ranks, then that of 8", got)
	}
	var cells []string
	for _, c := range merged.Find(job).Cells {
		cells = append(cells, fmt.Sprint(c.RootClass, " ", c.Bytes, " ", c.Algorithm))
	}
	want := []string{"0 8 flat", "0 65536 multilevel[flat chain]", "0 1048576 chain", "1 8 flat", "1 16 chain"}
	if !reflect.DeepEqual(cells, want) {
		t.Errorf("cells %q, want %q", cells, want)
	}
	if more.Cells[0].Bytes != 16 || more.Cells[1].Bytes != 8 {
		t.Errorf("With has sorted the cells of its caller: %+v", more.Cells)
	}
	if len(first.Tunings()) != 1 || first.Tunings()[0].Cells[0].Algorithm != Native {
		t.Error("With changed the table")
	}
	more.RootClass = nil
	more.Cells = more.Cells[:1]
	more.Cells[0].RootClass = 0
	alone, err := merged.With(more)
	if err != nil || len(alone.Find(job).Cells) != 1 {
		t.Errorf("other classes of roots: %+v, %v, want one cell", alone.Find(job), err)
	}
	for i := range maxTunings + 5 {
		other.Ranks = i + 1
		if both, err = both.With(other); err != nil {
			t.Fatal(err)
		}
	}
	if got := both.Tunings(); len(got) != maxTunings || got[0].Ranks != 6 || got[len(got)-1].Ranks != maxTunings+5 {
		t.Errorf("%d tunings from %d ranks on, want the latest %d", len(got), got[0].Ranks, maxTunings)
	}
}

// TestRefusals: what With and Of do not take, each by its own words.
func TestRefusals(t *testing.T) {
	job, at := job8()
	for _, c := range []struct {
		change func(t *Tuning)
		want   string
	}{
		{func(t *Tuning) { t.Ranks = 0 }, "0 ranks"},
		{func(t *Tuning) { t.Library = "a\nb" }, "library"},
		{func(t *Tuning) { t.Places = strings.Repeat("x", 257) }, "places"},
		{func(t *Tuning) { t.Date = "\x7f" }, "date"},
		{func(t *Tuning) { t.RootClass = t.RootClass[:7] }, "root classes of 7 ranks"},
		{func(t *Tuning) { t.RootClass[3] = 8 }, "rank 3 is 8"},
		{func(t *Tuning) { t.RootClass[3] = -1 }, "rank 3 is -1"},
		{func(t *Tuning) { t.RootClass = nil }, "root class 1"},
		{func(t *Tuning) { t.Cells[0].Bytes = 9 }, "9 bytes"},
		{func(t *Tuning) { t.Cells[0].Bytes = 0 }, "0 bytes"},
		{func(t *Tuning) { t.Cells[1].Bytes = 8 }, "each once"},
		{func(t *Tuning) { t.Cells[0].Algorithm = "" }, "algorithm"},
		{func(t *Tuning) { t.Cells[0].Algorithm = "*/" + "\t" }, "algorithm"},
		{func(t *Tuning) { t.Cells[0].Segment = 8 }, "the library decides"},
		{func(t *Tuning) { t.Cells[0].Blocking = true }, "the library decides"},
		{func(t *Tuning) { t.Cells[1].Segment = -1 }, "segment of -1"},
		{func(t *Tuning) { t.Cells[1].Segment = 1<<30 + 1 }, "segment of 1073741825"},
		{func(t *Tuning) { t.Cells[1].Measured = 0 }, "time 0 s"},
		{func(t *Tuning) { t.Cells[1].Choice.Native = math.Inf(1) }, "time +Inf s"},
		{func(t *Tuning) { t.Cells[1].Pairs = -1 }, "-1 pairs"},
		{func(t *Tuning) { t.Cells[0].Topology = "hosts" }, `native along topology "hosts"`},
		{func(t *Tuning) { t.Cells[1].Topology = "hosts" }, `topology "hosts" is not in the table`},
		{func(t *Tuning) { t.Topologies = []Topology{{Name: "a,b"}} }, `name "a,b"`},
		{func(t *Tuning) { t.Topologies = []Topology{{Name: "flat"}, {Name: "flat"}} }, "flat is given twice"},
		{func(t *Tuning) { t.Topologies = []Topology{{"x", [][][]int{{{0, 8}}}}} }, "host outside [0, 8)"},
		{func(t *Tuning) { t.Topologies = []Topology{{"x", [][][]int{{{0, 1}, {1, 2}}}}} }, "does not nest"},
	} {
		bad := tuned(job)
		c.change(&bad)
		if _, err := (&Table{}).With(bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("With = %v, want an error of %q", err, c.want)
		}
	}
	n := network(t, at)
	for _, c := range []struct{ section, want string }{
		{`{}`, "version is 0"},
		{`{"version":2,"tunings":[]}`, "version is 2, this program reads 1"},
		{`{"version":1,"tunings":[],"more":1}`, "more"},
		{`{"version":1,"tunings":[{"ranks":0,"places":"","cells":[]}]}`, "0 ranks"},
		{`{"version":1,"tunings":[{"ranks":1,"places":"","cells":[]},{"ranks":1,"places":"","cells":[]}]}`, "has one already"},
		{`{"version":1,"tunings":[{"ranks":1,"places":"","cells":[{"up_to_bytes":8,"algorithm":"x","measured_s":0,"pairs":1}]}]}`, "time 0 s"},
	} {
		with, err := n.With(func(s *model.Settings) { s.BcastTable = json.RawMessage(c.section) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Of(with); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Of(%s) = %v, want an error of %q", c.section, err, c.want)
		}
	}
	for _, section := range []string{"", "null", "[]", "{", `{"a":` + strings.Repeat(" ", 5<<20) + "1}"} {
		if _, err := n.With(func(s *model.Settings) { s.BcastTable = json.RawMessage(section) }); err == nil {
			t.Errorf("With a table of %.20q is taken", section)
		}
	}
}

// What is just within the limits is taken, and read again.
func TestLimitsAreAllowed(t *testing.T) {
	wide := Choice{strings.Repeat("~", maxText), "", 1 << 30, true, math.SmallestNonzeroFloat64, math.MaxFloat64, 0}
	table, err := (*Table)(nil).With(Tuning{
		Job: Job{"", 3, "", strings.Repeat(" ", maxText), ""}, RootClass: []int{0, 2, 0},
		Cells: []Cell{{1, 0, wide}, {1 << 62, 0, wide}, {1, 2, Choice{Algorithm: "x", Measured: nan, Native: nan}}},
	})
	if err == nil {
		table, err = table.With(Tuning{Job: Job{Ranks: 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	section, err := table.encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read(section); err != nil || !same(again.Tunings(), table.Tunings()) {
		t.Errorf("read again: %+v, %v, want %+v", again, err, table)
	}
}

func FuzzRead(f *testing.F) {
	job, _ := job8()
	table, err := (&Table{}).With(tuned(job))
	if err != nil {
		f.Fatal(err)
	}
	whole, err := table.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(whole))
	f.Add([]byte(`{"version":1,"tunings":[{"ranks":2,"places":"","root_class_of_rank":[0,1],"cells":[{"up_to_bytes":4611686018427387904,"algorithm":"native","pairs":0}]}]}`))
	f.Add([]byte(`{"version":1,"tunings":[{"ranks":-1}]}`))
	f.Fuzz(func(t *testing.T, section []byte) {
		table, err := read(section)
		if err != nil {
			return
		}
		written, err := table.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(written)
		if err != nil || !same(again.Tunings(), table.Tunings()) {
			t.Fatalf("read again: %+v, %v, want %+v", again, err, table)
		}
		for i := range table.Tunings() {
			table.tunings[i].Choice(8, 0)
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("written again: %s, %v, want %s", twice, err, written)
		}
	})
}
