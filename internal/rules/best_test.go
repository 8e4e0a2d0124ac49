package rules

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/benchmark"
)

// reported is a report of times in us with intervals of 10 % around them, of 12 ranks on as many hosts, from root 0.
func reported(library string, environment map[string]string, us map[int64]float64) Report {
	r := Report{"r.json", &benchmark.Report{Ranks: 12, Conditions: benchmark.Conditions{Library: library, Places: "p", Hosts: 12, PerHost: []int{1}, Environment: environment}}}
	for bytes, t := range us {
		r.Rows = append(r.Rows, benchmark.Row{Bytes: int(bytes), Median: t * 1e-6, Low: t * 0.9e-6, High: t * 1.1e-6})
	}
	return r
}

const classicVersion = "Open MPI v4.1.4"

// tuned is an environment that forces an algorithm on Open MPI. more are endings of further variables, and values.
func tuned(algorithm string, more ...string) map[string]string {
	e := map[string]string{openMPIUse: "1", openMPIForced: algorithm}
	for i := 0; i < len(more); i += 2 {
		e[openMPIForced+more[i]] = more[i+1]
	}
	return e
}

// fourSettings are reports in which another setting is the fastest for each of four sizes.
func fourSettings(library string, shared map[string]string) []Report {
	with := func(e map[string]string) map[string]string {
		maps.Copy(e, shared)
		return e
	}
	return []Report{
		reported(library, with(tuned("1")), map[int64]float64{8: 50, 1 << 10: 99, 1 << 16: 9000, 1 << 20: 1e5}),
		reported(library, with(tuned("pipeline", "_segmentsize", "8192")), map[int64]float64{8: 90, 1 << 10: 200, 1 << 16: 700, 1 << 20: 1000}),
		reported(library, shared, map[int64]float64{8: 100, 1 << 10: 100, 1 << 16: 2000, 1 << 20: 9000}),
		reported(library, with(tuned("2", "_segmentsize", "4096", "_chain_fanout", "1")), map[int64]float64{1 << 16: 800, 1 << 20: 900}),
	}
}

func TestBestIsFastestBySize(t *testing.T) {
	rules, err := Best(fourSettings(classicVersion, nil))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := rules.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `bytes    best of the library                 gain
8 B      basic_linear                        2
1 KiB    the library's choice                1
64 KiB   pipeline, segments of 8192 B        2.86
1 MiB    chain, segments of 4096 B, fanout 1  10
`
	if got := strings.Join(strings.Fields(text.String()), " "); got != strings.Join(strings.Fields(want), " ") {
		t.Errorf("text\n%s\nwant\n%s", &text, want)
	}
}

// TestBestHoldsForEveryRoot: what is faster from one root alone is not chosen.
func TestBestHoldsForEveryRoot(t *testing.T) {
	from := func(root int, r Report) Report {
		r.Root = root
		return r
	}
	rules, err := Best([]Report{
		reported(classicVersion, nil, map[int64]float64{8: 100, 16: 100}),
		from(3, reported(classicVersion, nil, map[int64]float64{8: 100, 16: 100})),
		reported(classicVersion, tuned("1"), map[int64]float64{8: 10, 16: 10}),
		from(3, reported(classicVersion, tuned("1"), map[int64]float64{8: 110, 16: 40})),
		reported(classicVersion, tuned("5"), map[int64]float64{8: 10, 16: 30}),
		from(3, reported(classicVersion, tuned("5"), map[int64]float64{16: 30})),
	})
	if err != nil {
		t.Fatal(err)
	}
	// 16 B: gains of 10 and 2.5 are 5 in the mean, those of 3.33 and 3.33 less.
	if got := fmt.Sprint(rules.choices[0].setting, "; ", rules.choices[1].setting); got != "the library's choice; basic_linear" {
		t.Errorf("choices %s", got)
	}
	if got := rules.choices[1].gain; math.Abs(got-5) > 1e-12 {
		t.Errorf("the gain from two roots is %g, want 5", got)
	}
}

func TestBestRefuses(t *testing.T) {
	own := reported(classicVersion, nil, map[int64]float64{8: 100})
	const mpichVersion = "MPICH Version: 4.0.2"
	ownMPICH := reported(mpichVersion, nil, map[int64]float64{8: 100})
	for _, c := range []struct {
		own, other Report
		want       string
	}{
		{own, own, "8 bytes from root 0: reported before"},
		{own, reported("Open MPI v5.0.5", tuned("1"), nil), "r.json is of another job (12 ranks on 12 hosts, places p, Open MPI v5.0.5)"},
		{own, reported(classicVersion, map[string]string{"OMPI_MCA_coll_base_verbose": "50"}, nil), "differs from r.json in OMPI_MCA_coll_base_verbose"},
		{own, reported(classicVersion, map[string]string{"OMPI_MCA_coll": "^han"}, nil), "differs from r.json in OMPI_MCA_coll:"},
		{own, reported(classicVersion, map[string]string{openMPIForced: "1"}, nil), "has no effect without"},
		{own, reported(classicVersion, tuned("10"), nil), "=10: want ignore, basic_linear,"},
		{own, reported(classicVersion, tuned("quick"), nil), "=quick: want ignore, basic_linear,"},
		{own, reported(classicVersion, tuned("1", "_segmentsize", "-1"), nil), "want a number"},
		{own, reported(classicVersion, tuned("7", "_knomial_radix", "2"), nil), "_knomial_radix"},
		{own, reported(classicVersion, map[string]string{openMPIFile: "/etc/rules"}, nil), "=/etc/rules: measured with a file of rules"},
		{ownMPICH, reported(mpichVersion, map[string]string{mpichFile: "t.json"}, nil), "=t.json: measured with a file of rules"},
		{ownMPICH, reported(mpichVersion, map[string]string{mpichForced: "pipelined_tree"}, nil), "=pipelined_tree, which has parameters"},
	} {
		if _, err := Best([]Report{c.own, c.other}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Best(%v) = %v, want an error of %q", c.other.Environment, err, c.want)
		}
	}
	if _, err := Best([]Report{reported(classicVersion, tuned("1"), map[int64]float64{8: 1})}); err == nil || !strings.Contains(err.Error(), "the library's own choice") {
		t.Errorf("without the library's own choice: %v", err)
	}
	if _, err := Best(nil); err == nil {
		t.Error("of nothing")
	}
}

// TestOptionsRepeatWhatAllReportsShare, so that a job with the file is set as the measured ones were.
func TestOptionsRepeatWhatAllReportsShare(t *testing.T) {
	for _, c := range []struct {
		reports []Report
		want    string
	}{
		{fourSettings("Open MPI v5.0.7", nil), "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename '/tmp/o'\\''s file'"},
		{
			fourSettings("Open MPI v6.0.0", map[string]string{"OMPI_MCA_coll": "^han", "OMPI_MCA_coll_sync_priority": "", "MPICH_X": "1"}),
			"--mca coll ^han --mca coll_sync_priority '' --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename '/tmp/o'\\''s file'",
		},
		{
			[]Report{reported("MPICH Version: 5.0.2", map[string]string{"MPIR_CVAR_NOLOCAL": "1", "OMPI_MCA_coll": "^han"}, map[int64]float64{8: 1})},
			"-genv MPIR_CVAR_NOLOCAL 1 -genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE '/tmp/o'\\''s file'",
		},
	} {
		rules, err := Best(c.reports)
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Options("/tmp/o's file"); got != c.want {
			t.Errorf("Options = %s, want %s", got, c.want)
		}
	}
}
