package model_test

import (
	"fmt"
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
		"hello\n":                                             "want JSON of topocast, node-link JSON, DOT",
		"Creator \"yEd\"\ngraph [\n  node [ id 0 ]\n]\n":      "is GML: want GraphML",
		`{"elements":{"nodes":[{"data":{"id":"a"}}]}}`:        "want JSON of topocast, node-link JSON",
	} {
		if _, err := model.Open(file(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := model.Open("no/such/file"); err == nil || !strings.Contains(err.Error(), "no/such/file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file of a scheduler is a network: its switches are groups, and nothing is known of its links. What it includes is beside it.
func TestOpenSchedulerFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"topology.conf": "include leaves.conf\nSwitchName=top Switches=leaf[1-2]\n",
		"leaves.conf":   "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[2-4]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := model.Open(filepath.Join(folder, "topology.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(n.Hosts()); got != "[n1 n2 n3 n4]" || n.Ranks() != 4 {
		t.Errorf("hosts %s of %d ranks", got, n.Ranks())
	}
	var groups []string
	for _, g := range n.Hierarchy().Groups() {
		groups = append(groups, fmt.Sprint(g.Hosts))
	}
	if got := strings.Join(groups, " "); got != "[0 1 2 3] [0 1] [2 3]" {
		t.Errorf("groups %s", got)
	}
	if w := strings.Join(n.Warnings(), "; "); !strings.Contains(w, `host "n2" is on switches "leaf1" and "leaf2": the first counts`) {
		t.Errorf("warnings %q", w)
	}
	if _, err := model.DecodeFile("", []byte("include leaves.conf\n"), nil); err == nil || !strings.Contains(err.Error(), "where that is is not known") {
		t.Errorf("a file without a folder includes another: %v", err)
	}
}
