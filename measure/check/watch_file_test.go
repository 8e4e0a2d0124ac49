package check

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWatchFileKeepsRuns(t *testing.T) {
	s := site{pairs: disjointPairs(5), runs: 3, noise: normal(0.02), lostHost: -1}
	runs, _ := s.make(1)
	runs[1].Points = append(runs[1].Points, Point{true, "a b", "ö\"", 0.5})
	path := filepath.Join(t.TempDir(), "site.watch")
	for _, run := range runs {
		if err := AppendRun(path, run); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, lost, err := ReadRuns(bytes.NewReader(text))
	if err != nil || lost != 0 || !reflect.DeepEqual(got, runs) {
		t.Errorf("%d runs, %d lost, %v; want those that were appended", len(got), lost, err)
	}
	// Cut anywhere behind the first line, at most the last run is lost, and the next one is not.
	head := bytes.IndexByte(text, '\n') + 1
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		cut := head + rng.IntN(len(text)-head)
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if err := AppendRun(path, runs[2]); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(text[:cut], []byte("\n")) - 1
		if bytes.IndexByte(text[cut:], '\n') == 0 {
			whole++ // only the end of its line was cut
		}
		got, _, err := ReadRuns(bytes.NewReader(after))
		if err != nil || len(got) != whole+1 || !reflect.DeepEqual(got[whole], runs[2]) {
			t.Fatalf("cut at %d of %d: %d runs, %v; want %d", cut, len(text), len(got), err, whole+1)
		}
	}
}

func TestWatchFileRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a,b\n1,2\n", "format"},
		{`{"format":"topocast/network","version":1}` + "\n", "format"},
		{`{"format":"topocast/watch","version":2}` + "\n", "version is 2"},
	} {
		_, _, err := ReadRuns(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ReadRuns(%q) = %v, want %q", c.text, err, c.want)
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := AppendRun(path, Run{Points: []Point{{From: "a", To: "b", Seconds: 1}}}); err == nil {
			t.Errorf("AppendRun to %q: no error", c.text)
		}
		if after, _ := os.ReadFile(path); string(after) != c.text {
			t.Errorf("AppendRun changed %q to %q", c.text, after)
		}
	}
}

// TestEmptyRunsAreNotAppended: ReadRuns would call them damaged.
func TestEmptyRunsAreNotAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.watch")
	err := AppendRun(path, Run{})
	if _, none := os.Stat(path); err == nil || !strings.Contains(err.Error(), "no points") || none == nil {
		t.Errorf("AppendRun without points = %v, and the file: %v", err, none)
	}
}

func FuzzReadRuns(f *testing.F) {
	head := `{"format":"topocast/watch","version":1}` + "\n"
	for _, text := range []string{
		"", head, head + `{"date":"2026-11-01T00:00:00Z","points":[{"from":"a","to":"b","seconds":1e-6}]}` + "\n",
		head + `{"points":[{"from":"a","to":"b"}]}` + "\n" + `{"points":[{"long":true,"from":"a","to":"b","seconds":-1}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		runs, _, err := ReadRuns(bytes.NewReader(text))
		if err != nil {
			return
		}
		for i := 1; i < len(runs); i++ {
			if runs[i].Date.Before(runs[i-1].Date) {
				return
			}
		}
		if _, err := Watch(runs, nil); err != nil {
			t.Error(err) // what can be read can be watched
		}
	})
}
