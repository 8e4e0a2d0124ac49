package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/jsonfile"
)

const root = "../.."

// TestCommands: every command of docs/measured.json is a target of the Makefile, or a benchmark that there is.
func TestCommands(t *testing.T) {
	all, err := read(filepath.Join(root, "docs/measured.json"))
	if err != nil {
		t.Fatal(err)
	}
	makefile := text(t, filepath.Join(root, "Makefile"))
	ids := map[string]bool{}
	for _, f := range all.Figures {
		if f.ID == "" || ids[f.ID] || f.What == "" || f.Claim == "" {
			t.Errorf("%+v: want an id of its own, words and a claim", f)
		}
		ids[f.ID] = true
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

// TestPublished: the page and the pictures in docs are those of docs/measured.json.
func TestPublished(t *testing.T) {
	all, err := read(filepath.Join(root, "docs/measured.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "img"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := all.publish(folder); err != nil {
		t.Fatal(err)
	}
	names := []string{"measured.md"}
	for _, p := range all.Pictures {
		names = append(names, "img/"+fileOf(p.Name, false), "img/"+fileOf(p.Name, true))
	}
	for _, name := range names {
		if text(t, filepath.Join(folder, name)) != text(t, filepath.Join(root, "docs", name)) {
			t.Errorf("docs/%s is not that of docs/measured.json: go run ./internal/figures -only x", name)
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
	if r.output != "size  time\n8 B   2 ns" {
		t.Errorf("output %q", r.output)
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

// TestLastRun: what was measured is kept in the file and shown on the page.
func TestLastRun(t *testing.T) {
	low, high := 1.0, 3.0
	m := measured{Figures: []figure{
		{ID: "a", What: "time", Claim: "2 ns", Command: "go test", Last: &result{
			Runs: 6, Seconds: 12, Machine: machine{System: "Linux", CPUs: 2, Versions: []string{"go1"}},
			Benchmarks: []benchmark{{Name: "X-2", Unit: "ns/op", N: 6, Median: 2, Low: &low, High: &high}, {Name: "Y-2", Unit: "B", N: 1, Median: 5}},
		}},
		{ID: "b", What: "rate", Claim: "1", Last: &result{Runs: 1, Error: "exit status 1"}},
	}}
	file := filepath.Join(t.TempDir(), "measured.json")
	if err := m.write(file); err != nil {
		t.Fatal(err)
	}
	back, err := read(file)
	if err != nil || back.Figures[0].Command != "go test" || *back.Figures[0].Last.Benchmarks[0].High != 3 {
		t.Errorf("%+v, %v", back, err)
	}
	var page strings.Builder
	if err := m.markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| X-2 | 2 | ns/op | 1 to 3 | 6 |\n", "**Failed: exit status 1**\n", "6 runs, Linux, 2 CPUs (go1)"} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("no %q in\n%s", line, page.String())
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
