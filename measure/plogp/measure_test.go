package plogp_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// measured is what rank 0 got.
func measured(t *testing.T, run func(body func(mpi.Communicator) error) error, s *plogp.Settings) *plogp.Result {
	t.Helper()
	var r *plogp.Result
	err := run(func(c mpi.Communicator) error {
		var own *plogp.Settings // those of rank 0 count
		if c.Rank() == 0 {
			own = s
		}
		got, err := plogp.Measure(context.Background(), c, own)
		switch {
		case c.Rank() == 0:
			r = got
		case got != nil:
			return fmt.Errorf("rank %d has a result", c.Rank())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cluster(t *testing.T, spec string, s *simnet.Settings) (*gen.Cluster, func(body func(mpi.Communicator) error) error) {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c, func(body func(mpi.Communicator) error) error { return simnet.Run(c.Graph, nil, s, body) }
}

// TestAllPairsOfACluster: latency and gaps of all directed pairs are those of
// the ways, whatever is measured at the same time: 10 Gbit/s and the length of
// the way, without software in between, where L + g(0) = latency.
func TestAllPairsOfACluster(t *testing.T) {
	c, run := cluster(t, "tree:2x2 latency=30us,10us rate=10Gbps", &simnet.Settings{EagerLimit: 1 << 30, Noise: simnet.Noise{Sigma: 0.01}})
	want, err := c.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*plogp.Settings{
		{Longest: 1 << 17, Samples: 5, ExtraSizes: -1},
		{Longest: 1 << 17, Samples: 5, ExtraSizes: -1, Groups: c.Hierarchy},
		{Longest: 1 << 17, Samples: 5, ExtraSizes: -1, Fast: true},
	} {
		r := measured(t, run, s)
		if len(r.Pairs) != 4*3 || r.Stopped != "" {
			t.Fatalf("%d pairs, stopped %q, want all 12", len(r.Pairs), r.Stopped)
		}
		d, err := r.Distances(plogp.View{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Pairs {
			way := want.At(p.Src, p.Dst)
			if got := p.Time(0); math.Abs(got-way) > 0.03*way || d.At(p.Src, p.Dst) != got {
				t.Errorf("%d -> %d: L + g(0) = %g s, want %g", p.Src, p.Dst, got, way)
			}
			for i, m := range p.Sizes {
				if m < 1<<16 {
					continue
				}
				if gap := float64(m) / 1.25e9; math.Abs(p.Gap[i]-gap) > 0.1*gap {
					t.Errorf("%d -> %d: g(%d) = %g s, want %g", p.Src, p.Dst, m, p.Gap[i], gap)
				}
			}
		}
		if len(r.Observations()) != 12*len(r.Pairs[0].Sizes) {
			t.Errorf("%d observations, want one per pair and size", len(r.Observations()))
		}
	}
}

// TestShareOfTheRanks: of each group a share, and what joins those.
func TestShareOfTheRanks(t *testing.T) {
	c, run := cluster(t, "tree:2x6 latency=30us,10us rate=10Gbps", nil)
	for _, k := range []struct {
		s     plogp.Settings
		pairs int
	}{
		{plogp.Settings{Share: 0.5, Groups: c.Hierarchy}, 6 * 5},
		{plogp.Settings{Share: 0.01, Groups: c.Hierarchy}, 4 * 3},
		{plogp.Settings{Share: 0.25}, 3 * 2},
		{plogp.Settings{Share: 1, Groups: c.Hierarchy}, 12 * 11},
	} {
		k.s.Longest, k.s.Samples, k.s.Fast, k.s.ExtraSizes = 64, 3, true, -1
		if r := measured(t, run, &k.s); len(r.Pairs) != k.pairs {
			t.Errorf("share %g: %d pairs, want %d", k.s.Share, len(r.Pairs), k.pairs)
		}
	}
}

// TestInOneProcess: real times have no known truth here, but an order.
func TestInOneProcess(t *testing.T) {
	r := measured(t, func(body func(mpi.Communicator) error) error { return local.Run(2, nil, body) },
		&plogp.Settings{Longest: 16, Samples: 5, ExtraSizes: 1})
	if len(r.Pairs) != 2 {
		t.Fatalf("%d pairs, want 2", len(r.Pairs))
	}
	for _, p := range r.Pairs {
		if len(p.Send) != len(p.Sizes) || len(p.Recv) != len(p.Sizes) || len(p.RoundTrip) != len(p.Sizes) {
			t.Errorf("%d -> %d: %d sizes, %d, %d and %d values", p.Src, p.Dst, len(p.Sizes), len(p.Send), len(p.Recv), len(p.RoundTrip))
		}
		for i := range p.Sizes {
			if !(p.Gap[i] >= 0 && p.Send[i] >= 0 && p.Recv[i] >= 0 && p.RoundTrip[i] > 0) {
				t.Errorf("%+v: times below 0", p)
			}
		}
		if l := p.LogGP(16, 2); !(l.Gap >= 0) || !(l.O >= 0) {
			t.Errorf("LogGP %+v", l)
		}
	}
}

// TestFileOfPLogP: what is written while it is measured is what the result
// writes, and reads as the same result; a file that was cut short reads as what
// is in it.
func TestFileOfPLogP(t *testing.T) {
	_, run := cluster(t, "star:3 latency=10us rate=1Gbps", &simnet.Settings{Noise: simnet.Noise{Sigma: 0.03}})
	header := &record.Header{
		Ranks: 3, GoVersion: "go", Platform: "p", Hosts: []string{"a", "b", "c"}, Cores: []int{0, 1, 2}, CPUs: []int{1, 1, 1}, GOMAXPROCS: []int{1, 1, 1},
	}
	var b bytes.Buffer
	out := record.NewWriter(&b, header)
	r := measured(t, run, &plogp.Settings{Longest: 1 << 17, Samples: 3, Record: out})
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	back := func(data []byte) *plogp.Result {
		t.Helper()
		f, err := record.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		again, err := plogp.FromSection(f.Section(plogp.Kind), f.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	if again := back(b.Bytes()); !reflect.DeepEqual(again, r) {
		t.Errorf("read %+v, want %+v", again, r)
	}
	var whole bytes.Buffer
	if err := (&record.File{Header: *header, Sections: []*record.Section{r.Section()}}).Write(&whole); err != nil {
		t.Fatal(err)
	}
	if again := back(whole.Bytes()); !reflect.DeepEqual(again, r) {
		t.Errorf("read %+v, want %+v", again, r)
	}
	lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
	if again := back(bytes.Join(lines[:len(lines)-3], nil)); again.Rounds != 3 || !reflect.DeepEqual(again.Pairs, r.Pairs) {
		t.Errorf("without its end the file holds %d pairs of %d rounds, want all %d of 3", len(again.Pairs), again.Rounds, len(r.Pairs))
	}
	if again := back(bytes.Join(lines[:len(lines)/2], nil)); len(again.Pairs) == 0 || len(again.Pairs) > len(r.Pairs) {
		t.Errorf("half a file holds %d of %d pairs", len(again.Pairs), len(r.Pairs))
	}
}

// TestPairsAreWholeWithoutAdditionalSizes: a budget that ends among these has measured the pair, in the result and in the file.
func TestPairsAreWholeWithoutAdditionalSizes(t *testing.T) {
	_, machine := cluster(t, "star:2 latency=10us rate=1Gbps", &simnet.Settings{Send: simnet.Overhead{Seconds: 3e-6}, Recv: simnet.Overhead{Seconds: 3e-6}})
	after := func(s *plogp.Settings) (r *plogp.Result, seconds float64) {
		r = measured(t, func(body func(mpi.Communicator) error) error {
			return machine(func(c mpi.Communicator) error {
				defer func() { seconds = c.(mpi.Clock).Now() }()
				return body(c)
			})
		}, s)
		return r, seconds
	}
	usual, few := after(&plogp.Settings{ExtraSizes: -1})
	more, all := after(nil)
	if len(more.Pairs[0].Sizes) < len(usual.Pairs[0].Sizes)+2 {
		t.Fatalf("%d sizes and %d with additional ones: want some more", len(usual.Pairs[0].Sizes), len(more.Pairs[0].Sizes))
	}
	r, _ := after(&plogp.Settings{Control: harness.Control{Budget: time.Duration((few + all) / 2 * 1e9)}})
	again, err := plogp.FromSection(r.Section(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*plogp.Result{r, again} {
		if want := "the budget ended the measurement before all additional sizes"; r.Stopped != "budget" || r.Rounds != 1 || len(r.Pairs) != 2 || !strings.HasPrefix(r.Warnings[0], want) {
			t.Errorf("stopped %q after %d rounds with %d pairs, %q: want the one round, both pairs, %q", r.Stopped, r.Rounds, len(r.Pairs), r.Warnings, want)
		}
	}
}

func TestWrongSectionsAreRefused(t *testing.T) {
	columns := []string{"from", "to", "bytes", "round_trip_s", "gap_s", "send_s", "receive_s", "steady"}
	for _, c := range []struct {
		kind    string
		columns []string
		row     []float64
		want    string
	}{
		{"latency", columns, nil, `kind "latency"`},
		{"plogp", columns[:7], nil, `want "steady"`},
		{"plogp", columns, []float64{1, 1, 0, 1, 1, 1, 1, 1}, "from rank 1 to itself"},
		{"plogp", columns, []float64{0, 1, -1, 1, 1, 1, 1, 1}, "bytes: -1"},
		{"plogp", columns, []float64{0, 1, 1.5, 1, 1, 1, 1, 1}, "bytes: 1.5"},
		{"plogp", columns, []float64{0, 1, 0, math.NaN(), 1, 1, 1, 1}, "round_trip_s: NaN"},
		{"plogp", columns, []float64{0, 1, 0, 1, math.NaN(), 1, 1, 1}, "gap_s: NaN"},
		{"plogp", columns, []float64{0, 1, 0, 1, 1, -1, 1, 1}, "send_s: -1"},
		{"plogp", columns, []float64{0, 1, 8, 1, 1, 1, 1, 1}, "from 0 to 1: no message of 0 bytes"},
	} {
		_, err := plogp.FromSection(&record.Section{Kind: c.kind, Columns: c.columns, Rows: c.row}, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.row, err, c.want)
		}
	}
}

// TestBudgetAndSettings: all ranks hear of both.
func TestBudgetAndSettings(t *testing.T) {
	_, run := cluster(t, "star:4 latency=10us rate=1Gbps", nil)
	if r := measured(t, run, &plogp.Settings{Longest: 1 << 20, Control: harness.Control{Budget: 3 * time.Second}}); r.Stopped != "budget" || len(r.Pairs) == 0 || len(r.Pairs) == 12 || !strings.Contains(strings.Join(r.Warnings, "\n"), "of 6 rounds of pairs: give it more time") {
		t.Errorf("stopped %q with %d pairs, want some of 12 within the budget", r.Stopped, len(r.Pairs))
	}
	var took float64 // s
	if r := measured(t, func(body func(mpi.Communicator) error) error {
		return run(func(c mpi.Communicator) error {
			defer func() { took = share.Clock(c)() }()
			return body(c)
		})
	}, &plogp.Settings{Control: harness.Control{Budget: time.Millisecond}}); r.Stopped != "budget" || len(r.Pairs) != 0 || took > 0.05 || r.Section().NumRows() == 0 || !strings.Contains(r.Warnings[0], "not measured at all sizes") {
		t.Errorf("stopped %q with %d pairs after %g s, %q: want none, the end within one size of the first pair, and the sizes that were measured in the file", r.Stopped, len(r.Pairs), took, r.Warnings)
	}
	for want, s := range map[string]plogp.Settings{
		"Settings.Share: 1.5": {Share: 1.5}, "Settings.Budget: -1s": {Control: harness.Control{Budget: -time.Second}},
	} {
		err := run(func(c mpi.Communicator) error {
			_, err := plogp.Measure(context.Background(), c, &s)
			if err == nil || c.Rank() == 0 && !strings.Contains(err.Error(), want) {
				return fmt.Errorf("rank %d: %w", c.Rank(), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
