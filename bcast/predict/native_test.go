package predict

import (
	"math"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
)

// Two groups of three. The leader of the other one has the bytes when a lone message would be there, and its group
// the time of the black box later; pieces queue up before that box if it is slower than the way, and its leader takes the next one in between. A
// time between two sizes is linear, by hand, and beyond them grows by the bytes.
func TestNativeGroupsTakeTheTimeThatWasMeasured(t *testing.T) {
	tree := casttest.RegularTree(t, 6, 3)
	e := New(casttest.NetworkOf(t, tree))
	groups := tree.Groups()
	a, b := 1, 2 // of ranks 0 to 2 and 3 to 5
	if groups[a].Hosts[0] != 0 || groups[b].Hosts[0] != 3 {
		t.Fatalf("groups %v", groups)
	}
	problem := func(bytes, segment int) schedule.Problem {
		return schedule.Problem{Ranks: 6, Bytes: bytes, Segment: segment, Tree: tree}
	}
	first := func(bytes int) float64 { // until the other leader has them
		s := make(casttest.Script, 6)
		s[0] = []schedule.Op{casttest.Send(3, 0, bytes)}
		s[3] = []schedule.Op{casttest.Recv(0, 0, bytes)}
		return e.Predict(s, problem(bytes, 0))
	}
	predicted := func(bytes, segment int) float64 {
		return e.Predict(schedule.NativeGroups{Between: schedule.Flat{}}, problem(bytes, segment))
	}
	e.MeasuredNative([]NativeTime{{b, 4000, 5e-3}, {b, 1000, 2e-3}, {a, 1000, 1e-3}})
	for _, c := range []struct {
		bytes int
		other float64 // s, in the other group
	}{{1, 2e-3}, {1000, 2e-3}, {2000, 3e-3}, {4000, 5e-3}, {16000, 20e-3}} {
		if got, want := predicted(c.bytes, 0), first(c.bytes)+c.other; !casttest.Near(got, want, 1e-12) {
			t.Errorf("%d bytes: %g s, want %g", c.bytes, got, want)
		}
	}
	e.MeasuredNative([]NativeTime{{b, 1000, 1e-6}, {a, 1000, 7e-3}})
	if got, want := predicted(1000, 0), 7e-3+e.machine.send; !casttest.Near(got, want, 1e-12) {
		t.Errorf("where the root's own group is the last: %g s, want %g", got, want)
	}
	e.MeasuredNative([]NativeTime{{b, 1000, 2e-3}, {b, 4000, 1e-3}, {a, 4000, 1e-6}}) // noise
	if got, want := predicted(4000, 0), first(4000)+2e-3; !casttest.Near(got, want, 1e-12) {
		t.Errorf("where a longer message took less: %g s, want %g", got, want)
	}
	const pieces = 100 // far more than are played
	e.MeasuredNative([]NativeTime{{b, 1000, 2e-3}, {a, 1000, 1e-6}})
	if got, want := predicted(1000*pieces, 1000), first(1000)+2e-3*pieces+(pieces-1)*e.machine.recv; !casttest.Near(got, want, 1e-9) {
		t.Errorf("%d pieces: %g s, want %g", pieces, got, want)
	}

	// What was measured in other groups is not true of these, and a guess is not told.
	e.MeasuredNative([]NativeTime{{b, 1000, 2}})
	p := problem(1000, 0)
	p.Tree = casttest.RegularTree(t, 6, 2)
	if got := e.Predict(schedule.NativeGroups{}, p); !(got < 1) {
		t.Errorf("in groups of two: %g s", got)
	}
	list := schedule.Variants([]schedule.Algorithm{schedule.NativeGroups{}}, problem(1000, 0))
	if got := e.Candidates(list, 1000, 3)[0]; !math.IsNaN(got.Predicted) { // group a is a guess
		t.Errorf("a guess is told: %v", got)
	}
	e.MeasuredNative([]NativeTime{{a, 1, 1e-6}, {b, 1, 1e-6}})
	if got := e.Candidates(list, 1000, 3)[0]; !(got.Predicted > 0) {
		t.Errorf("what was measured is not told: %v", got)
	}
}

// Ranks that never call leave the others waiting: +Inf, as of any schedule that never ends.
func TestNativeOfWhichSomeAreMissingNeverEnds(t *testing.T) {
	tree := casttest.RegularTree(t, 4, 2)
	s := make(casttest.Script, 4)
	s[0] = []schedule.Op{{Kind: schedule.Native, Group: 1, Length: 8}}
	p := schedule.Problem{Ranks: 4, Bytes: 8, Tree: tree}
	if got := New(casttest.NetworkOf(t, tree)).Predict(s, p); !math.IsInf(got, 1) {
		t.Errorf("Predict = %g, want +Inf", got)
	}
}

// With a second piece this algorithm ends sooner than with one. More take as long as the root needs to send them.
type restless struct{}

func (restless) Name() string                              { return "restless" }
func (r restless) Prepare(schedule.Problem) schedule.Parts { return schedule.Steps(r.ops) }
func (restless) ops(dst []schedule.Op, p schedule.Problem, rank int) []schedule.Op {
	if p.Pieces() < 2 {
		return schedule.Chain{}.Prepare(p).Of(rank).Ops(dst, p)
	}
	return schedule.Flat{}.Prepare(p).Of(rank).Ops(dst, p)
}

func TestExtrapolationsKeepToTheBusiest(t *testing.T) {
	const pieces = 100
	tree := casttest.RegularTree(t, 16, 4)
	e := New(casttest.NetworkOf(t, tree))
	p := schedule.Problem{Ranks: 16, Bytes: 8 * pieces, Segment: 8, Tree: tree}
	least := 15 * pieces * e.machine.send
	if got := e.extrapolate(restless{}.Prepare(p), p, 2, math.Inf(1)); !(got >= least) {
		t.Errorf("%g s, want at least %g", got, least)
	}
}
