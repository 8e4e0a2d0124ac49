package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/jsonfile"
)

const root = "../.."

// TestReadme: every command of README's table is a target of the Makefile, or a benchmark that there is.
func TestReadme(t *testing.T) {
	figures, err := read(text(t, filepath.Join(root, "README.md")))
	if err != nil {
		t.Fatal(err)
	}
	makefile := text(t, filepath.Join(root, "Makefile"))
	for _, f := range figures {
		words := strings.Fields(f.Command)
		for strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if words[0] == "make" && len(words) == 2 {
			if !strings.Contains(makefile, "\n"+words[1]+":") {
				t.Errorf("%q: no such target", f.Command)
			}
			continue
		}
		pkg := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "./") })
		bench := slices.Index(words, "-bench")
		if pkg < 0 || bench < 0 {
			t.Errorf("%q is neither make nor a benchmark of one package", f.Command)
			continue
		}
		for name := range strings.SplitSeq(strings.Trim(words[bench+1], "'"), "|") {
			name, _, _ = strings.Cut(name, "/")
			if !strings.Contains(tests(t, filepath.Join(root, words[pkg])), "\nfunc Benchmark"+strings.Trim(name, "^$")) {
				t.Errorf("%q: no benchmark %s in %s", f.Command, name, words[pkg])
			}
		}
	}
}

func TestRead(t *testing.T) {
	const table = "| what | figure | repeat with |\n|---|---|---|\n"
	figures, err := read("| other | table |\n|---|---|\n| a | b |\n\n" + table + "| time | 2 ns | `go test -bench 'A\\|B'` |\n\n| no | figure | `x` |\n")
	if err != nil {
		t.Fatal(err)
	}
	want := figure{What: "time", Claimed: "2 ns", Command: "go test -bench 'A|B'"}
	if len(figures) != 1 || figures[0] != want {
		t.Errorf("%+v, want only %+v", figures, want)
	}
	for _, c := range []struct{ readme, says string }{
		{"no table\n", "no table with a third column"},
		{table + "| time | 2 ns | by hand |\n", `line 3: "by hand": no command`},
		{table + "| time | 2 ns |\n", "line 3: 2 columns"},
	} {
		if _, err := read(c.readme); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.readme, err, c.says)
		}
	}
}

// TestMeasure: a command that prints what a benchmark does, another value in each run.
func TestMeasure(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := measure(t.Context(), `echo . >> `+count+`
echo "pkg: x"; echo "size  time"; echo "8 B   2 ns"
echo "BenchmarkX/a=1-2  10  $(wc -l < `+count+`) ns/op  0.5 of-all"
echo "PASS"`, time.Minute)
	if r.Error != "" || r.Runs != mostRuns {
		t.Fatalf("%d runs, error %q", r.Runs, r.Error)
	}
	if r.Output != "size  time\n8 B   2 ns" {
		t.Errorf("output %q", r.Output)
	}
	// Of 1 to 10 the median is 5.5; 95 % of samples have theirs between the second and the ninth.
	b := r.Benchmarks[0]
	if b.Name != "X/a=1-2" || b.Unit != "ns/op" || b.N != 10 || b.Median != 5.5 || *b.Low != 2 || *b.High != 9 {
		t.Errorf("%+v, from %g to %g", b, jsonfile.Value(b.Low), jsonfile.Value(b.High))
	}
	if b := r.Benchmarks[1]; b.Unit != "of-all" || b.Median != 0.5 {
		t.Errorf("%+v", b)
	}

	if r := measure(t.Context(), "echo 'BenchmarkX 1 5 ns/op'; exit 3", time.Minute); r.Error != "exit status 3" || r.Runs != 1 || len(r.Benchmarks) != 1 || r.Benchmarks[0].Low != nil {
		t.Errorf("a command that fails: %+v", r)
	}
	if r := measure(t.Context(), "echo PASS", 0); r.Error != "ran no benchmark" || r.Runs != 1 {
		t.Errorf("a command without a benchmark: %+v", r)
	}
}

func TestWrite(t *testing.T) {
	low, high := 1.0, 3.0
	r := report{Format: "topocast figures 1", Machine: machine{System: "Linux", CPUs: 2, Versions: []string{"go1"}}, Figures: []result{
		{
			figure: figure{What: "time", Claimed: "2 ns", Command: "go test"}, Runs: 6, Seconds: 12, Output: "a table",
			Benchmarks: []benchmark{{Name: "X-2", Unit: "ns/op", N: 6, Median: 2, Low: &low, High: &high}, {Name: "Y-2", Unit: "B", N: 1, Median: 5}},
		},
		{figure: figure{What: "rate"}, Runs: 1, Error: "exit status 1"},
	}}
	name := filepath.Join(t.TempDir(), "figures")
	if err := r.write(name); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal([]byte(text(t, name+".json")), &back); err != nil || back.Figures[0].Command != "go test" || *back.Figures[0].Benchmarks[0].High != 3 {
		t.Errorf("%+v, %v", back, err)
	}
	for _, line := range []string{"X-2        2       ns/op  1 to 3    6\n", "a table\n", "**Failed: exit status 1**\n", "6 runs in 12 s."} {
		if md := text(t, name+".md"); !strings.Contains(md, line) {
			t.Errorf("no %q in\n%s", line, md)
		}
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tests is the text of a package's tests.
func tests(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || files == nil {
		t.Fatalf("%s: no tests (%v)", dir, err)
	}
	var all strings.Builder
	for _, file := range files {
		all.WriteString(text(t, file))
	}
	return all.String()
}
