package model_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
)

// TestOpen: one link of 2 us between two hosts, in files of several tools, is read by its content; other files are called by
// their names.
func TestOpen(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, text := range map[string]string{
		"platform of topocast": `{"graph":{"hosts":["a","b"],"switches":[],"links":[{"a":0,"b":1,"latency_us":2}]}}`,
		"DOT":                  `graph { a -- b [latency="2e-6"] }`,
		"TGF":                  "1 a\n2 b\n#\n1 2 2 us\n2 1 2 us\n",
	} {
		n, err := model.Open(file(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n.Ranks() != 2 {
			t.Errorf("%s: %d ranks, want 2", name, n.Ranks())
		}
	}
	for text, want := range map[string]string{
		"{\"format\":\"topocast/measurement\",\"version\":3}": "topocast reconstruct --output makes a network",
		"<topology><object/></topology>":                      "describes the inside of a host",
		",1,2\n1,,3\n2,3,\n":                                  "of these latencies",
		"hello\n":                                             "want JSON of topocast, DOT",
	} {
		if _, err := model.Open(file(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := model.Open("no/such/file"); err == nil || !strings.Contains(err.Error(), "no/such/file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
