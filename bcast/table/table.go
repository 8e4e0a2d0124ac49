package table

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/model"
)

// Native is the Algorithm of the library's own broadcast.
const Native = "native"

// A Table holds the tunings of jobs, the latest last. It does not change: With makes another one.
type Table struct {
	tunings []Tuning
}

// A Job is what a tuning holds for. Jobs are equal by ==.
type Job struct {
	Collective string // Allreduce or Reduce; "": broadcasts

	Ranks    int
	Library  string // name and version of the message-passing library (mpi.Versioned); "" if not known
	Places   string // Fingerprint of where the ranks run
	Settings string // SettingsFingerprint of the library; "" if it runs with its defaults
}

// The collectives besides broadcasts that have tunings.
const (
	Allreduce = "allreduce"
	Reduce    = "reduce"
)

// JobOf is the job of broadcasts by ranks at the given locations, under a library and in an environment ("NAME=value").
func JobOf(at []model.Location, library string, environment []string) Job {
	return Job{Ranks: len(at), Library: library, Places: Fingerprint(at), Settings: SettingsFingerprint(environment)}
}

// A Tuning is what was chosen for one job.
type Tuning struct {
	Job
	Date string // RFC 3339; "" if it was simulated

	// RootClass is the class of each rank as a root: roots of one class share their
	// choices. nil: all are of class 0. See RootClasses.
	RootClass []int

	// Topologies are those that cells follow by name.
	Topologies []Topology

	// Cells ascend by root class, then by size.
	Cells []Cell
}

// A Cell is the choice for a class of sizes and one of roots.
type Cell struct {
	Bytes     int64 // SizeClass of the messages
	RootClass int
	Choice
}

// A Choice is how one broadcast is done best.
type Choice struct {
	Algorithm string  // its text with its settings, such as "chain" or "multilevel[flat chain]"; or Native
	Topology  string  // of Tuning.Topologies, whose groups it follows; "": those of the network's hierarchy
	Segment   int64   // bytes; 0: the message is sent whole
	Blocking  bool    // by blocking sends and receives
	Measured  float64 // s, median of what was chosen; NaN if it was not timed
	Native    float64 // s, median of the library's own broadcast; NaN if it has none
	Pairs     int     // paired samples behind the two
}

// SizeClass is the least power of two that is at least bytes, which stands for all sizes
// from half of it, less that, on. It is 0 for 0 bytes and less, which are no broadcast, and for what is too long.
func SizeClass(bytes int64) int64 {
	if bytes < 1 || bytes > maxBytes {
		return 0
	}
	return 1 << bits.Len64(uint64(bytes-1))
}

const (
	maxBytes   = 1 << 62 // the largest power of two of an int64
	maxSegment = 1 << 30 // bytes; what MPI counts in an int
)

// Choice is the one for a message of the given bytes from the root, if its class was tuned.
func (t *Tuning) Choice(bytes int64, root int) (Choice, bool) {
	if root < 0 || root >= t.Ranks {
		return Choice{}, false
	}
	class := 0
	if t.RootClass != nil {
		class = t.RootClass[root]
	}
	i, ok := slices.BinarySearchFunc(t.Cells, Cell{Bytes: SizeClass(bytes), RootClass: class}, compareCells)
	if !ok {
		return Choice{}, false
	}
	return t.Cells[i].Choice, true
}

func compareCells(a, b Cell) int {
	return cmp.Or(cmp.Compare(a.RootClass, b.RootClass), cmp.Compare(a.Bytes, b.Bytes))
}

// Tunings returns those of all jobs, the latest last. The slice is the table's own.
func (t *Table) Tunings() []Tuning {
	if t == nil {
		return nil
	}
	return t.tunings
}

// Find is the tuning for the job, or nil. It is the table's own.
func (t *Table) Find(job Job) *Tuning {
	for i := range t.Tunings() {
		if t.tunings[i].Job == job {
			return &t.tunings[i]
		}
	}
	return nil
}

// IsTunedOtherwise tells whether there is a tuning that only differs from the job in the settings of the library.
func (t *Table) IsTunedOtherwise(job Job) bool {
	return slices.ContainsFunc(t.Tunings(), func(x Tuning) bool {
		x.Settings = job.Settings
		return x.Job == job
	})
}

// maxTunings is how many jobs a table knows. The oldest goes first.
const maxTunings = 64

// With is the table with a tuning, in the place of the one for the same job. Cells of that one of
// which the new one has none stay if the classes of roots are the same. t may be nil.
func (t *Table) With(tuning Tuning) (*Table, error) {
	tuning.RootClass, tuning.Cells, tuning.Topologies = slices.Clone(tuning.RootClass), slices.Clone(tuning.Cells), slices.Clone(tuning.Topologies)
	slices.SortFunc(tuning.Cells, compareCells)
	if err := tuning.check(); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if old := t.Find(tuning.Job); old != nil && slices.Equal(old.RootClass, tuning.RootClass) {
		for _, c := range old.Cells {
			if i, have := slices.BinarySearchFunc(tuning.Cells, c, compareCells); !have {
				tuning.adopt(i, c, old)
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(t.Tunings()), func(o Tuning) bool { return o.Job == tuning.Job })
	others = others[max(0, len(others)+1-maxTunings):]
	return &Table{append(others, tuning)}, nil
}

// maxText bounds the texts of a table in bytes: names and versions of libraries take 20 to 60.
const maxText = 256

// check refuses what no tuning can be.
func (t *Tuning) check() error {
	if t.Ranks < 1 {
		return fmt.Errorf("tuning of %d ranks: want at least 1", t.Ranks)
	}
	if !slices.Contains([]string{"", Allreduce, Reduce}, t.Collective) {
		return fmt.Errorf("tuning of the collective %q: want %s, %s or none", t.Collective, Allreduce, Reduce)
	}
	for _, text := range []struct{ name, value string }{{"library", t.Library}, {"places", t.Places}, {"settings", t.Settings}, {"date", t.Date}} {
		if !plain(text.value) {
			return fmt.Errorf("%s is %q: want at most %d bytes of plain text", text.name, text.value, maxText)
		}
	}
	if t.RootClass != nil && len(t.RootClass) != t.Ranks {
		return fmt.Errorf("root classes of %d ranks, want %d", len(t.RootClass), t.Ranks)
	}
	classes := 1
	for rank, class := range t.RootClass {
		if class < 0 || class >= t.Ranks {
			return fmt.Errorf("root class of rank %d is %d: want in [0, %d)", rank, class, t.Ranks)
		}
		classes = max(classes, class+1)
	}
	for i, c := range t.Cells {
		if c.RootClass < 0 || c.RootClass >= classes {
			return fmt.Errorf("cell %d: root class %d: want in [0, %d)", i, c.RootClass, classes)
		}
		if c.Bytes < 1 || SizeClass(c.Bytes) != c.Bytes {
			return fmt.Errorf("cell %d: %d bytes: want a power of two", i, c.Bytes)
		}
		if i > 0 && compareCells(t.Cells[i-1], c) >= 0 {
			return fmt.Errorf("cell %d: root class %d and %d bytes: want them ascending, each once", i, c.RootClass, c.Bytes)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("cell %d: %w", i, err)
		}
	}
	return t.checkTopologies()
}

func (c Choice) check() error {
	switch {
	case c.Algorithm == "" || !plain(c.Algorithm):
		return fmt.Errorf("algorithm is %q: want 1 to %d bytes of plain text", c.Algorithm, maxText)
	case c.Segment < 0 || c.Segment > maxSegment:
		return fmt.Errorf("segment of %d bytes: want in [0, %d]", c.Segment, maxSegment)
	case c.Algorithm == Native && c.Topology != "":
		return fmt.Errorf("native along topology %q: it follows none", c.Topology)
	case c.Algorithm == Native && (c.Segment != 0 || c.Blocking):
		return fmt.Errorf("native in segments of %d bytes, blocking %v: the library decides that", c.Segment, c.Blocking)
	case c.Pairs < 0:
		return fmt.Errorf("%d pairs: want at least 0", c.Pairs)
	}
	for _, t := range []float64{c.Measured, c.Native} {
		if t <= 0 || math.IsInf(t, 0) {
			return fmt.Errorf("time %g s: want above 0 and finite, or NaN", t)
		}
	}
	return nil
}

// plain tells whether a text fits in a line and in a comment of any language.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= maxText
}
