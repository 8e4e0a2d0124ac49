package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
)

// line3 is a platform file: three hosts on one switch, 100 MB/s each, 10 us a link.
const line3 = `{"graph":{"hosts":["a","b","c"],"switches":["s"],"links":[
	{"a":"a","b":"s","latency_us":10,"bandwidth_MBps":100},
	{"a":"b","b":"s","latency_us":10,"bandwidth_MBps":100},
	{"a":"c","b":"s","latency_us":10,"bandwidth_MBps":100}]}}`

// TestPredict: by hand. Two transfers of 100 MB and 50 MB into c share its
// link, 50 MB/s each: the short one ends at 1 s, the long one has 50 MB left at
// the full 100 MB/s and ends at 1.5 s; with latency 20 us later.
func TestPredict(t *testing.T) {
	network := write(t, "platform.json", line3)
	transfers := write(t, "transfers.json", `{"transfers":[{"src":0,"dst":2,"bytes":100000000,"start_s":0},{"src":1,"dst":2,"bytes":50000000,"start_s":0}]}`)
	for _, c := range []struct {
		flags   []string
		latency float64
	}{{[]string{"--no-latency"}, 0}, {nil, 20e-6}} {
		status, out, stderr := topocast(append([]string{"predict", "--sharing", "fair", "--json", network, transfers}, c.flags...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		var got struct {
			Format     string    `json:"format"`
			Version    int       `json:"version"`
			Completion []float64 `json:"completion_s"`
			Estimated  []bool    `json:"estimated"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Completion) != 2 || fmt.Sprint(got.Estimated) != "[false false]" {
			t.Fatalf("%v in %s", err, out)
		}
		if got.Format != "topocast/prediction" || got.Version != 1 {
			t.Errorf("format %q, version %d, want topocast/prediction, 1", got.Format, got.Version)
		}
		for i, want := range []float64{1.5 + c.latency, 1 + c.latency} {
			if math.Abs(got.Completion[i]-want) > 1e-9 {
				t.Errorf("%v: transfer %d complete at %g s, want %g", c.flags, i, got.Completion[i], want)
			}
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	network := write(t, "platform.json", line3)
	good := write(t, "good.json", `{"transfers":[{"src":0,"dst":2,"bytes":1,"start_s":0}]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{network, write(t, "t.json", `{"transfers":[{"src":0,"dst":7,"bytes":1,"start_s":0}]}`)}, "t.json: transfer 0 (0->7, 1 bytes): unknown rank 7"},
		{[]string{network, write(t, "t.json", `{"transfers":[{"src":0,"dst":1,"bytes":0,"start_s":0}]}`)}, "0"},
		{[]string{network, write(t, "t.json", `{"transfers":`)}, "t.json"},
		{[]string{write(t, "n.json", `{"format":"topocast/network","version":99}`), good}, "version"},
		{[]string{"--sharing", "unfair", network, good}, `"unfair"`},
		{[]string{"--coverage", "2", network, good}, "topocast: --coverage 2: want"},
		{[]string{"--coverage", "NaN", network, good}, "coverage NaN"},
		{[]string{"--ack-weight", "-1", network, good}, "-1"},
		{[]string{network}, "want NET SRC DST BYTES"},
		{[]string{network, "no/file"}, "no/file"},
		{[]string{"no/file", good}, "no/file"},
	} {
		status, out, stderr := topocast(append([]string{"predict"}, c.args...)...)
		if status != 2 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, stdout %q, stderr %q, want 2, nothing, and one line with %q", c.args, status, out, stderr, c.want)
		}
	}
}

// TestPredictEqualsSimGrid runs the command on all patterns of the shared data:
// 24 on a platform file of SimGrid, 48 on Zhu's testbed, ten hosts in two racks, whose
// links the pattern files number (0 to 9 the hosts', 10 the backbone).
// Reference: SimGrid 3.32, max-min without (maxmin_no) and with cross traffic (maxmin_ct).
func TestPredictEqualsSimGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and without goroutines of its own")
	}
	shared, ok := published.Beside()
	if !ok {
		t.Skip("SimGrid's times may not enter the repository, and are not beside it; TestPredict does without")
	}
	patterns := 0
	for _, name := range []string{"zhu10_1g", "zhu10_10g", "tree3_hetero37"} {
		data, err := os.ReadFile(filepath.Join(shared, "contention", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Channels map[string]float64 `json:"channel_MBps"`
			Patterns []struct {
				ID    string
				Flows []struct {
					Src   int   `json:"src"`
					Dst   int   `json:"dst"`
					Bytes int64 `json:"bytes"`
				}
				SimGrid struct {
					Fair    []float64 `json:"maxmin_no"`
					Crossed []float64 `json:"maxmin_ct"`
				}
			}
		}
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		platform := filepath.Join(shared, "simgrid", name, "truth.json")
		if strings.HasPrefix(name, "zhu10") {
			var hosts, links []string
			link := func(i int, a, b string) {
				links = append(links, fmt.Sprintf(`{"a":%q,"b":%q,"latency_us":10,"bandwidth_MBps":%g}`, a, b, f.Channels[fmt.Sprintf("L%d_UP", i)]))
			}
			for h := range 10 {
				hosts = append(hosts, fmt.Sprintf(`"h%d"`, h))
				link(h, fmt.Sprintf("h%d", h), [2]string{"x", "y"}[h/5])
			}
			link(10, "x", "y")
			platform = write(t, name+".json", fmt.Sprintf(`{"graph":{"hosts":[%s],"switches":["x","y"],"links":[%s]}}`, strings.Join(hosts, ","), strings.Join(links, ",")))
		}
		for _, p := range f.Patterns {
			patterns++
			list, err := json.Marshal(map[string]any{"transfers": p.Flows})
			if err != nil {
				t.Fatal(err)
			}
			transfers := write(t, "transfers.json", string(list))
			for _, mode := range []struct {
				flags []string
				want  []float64
			}{
				{[]string{"--sharing", "fair"}, p.SimGrid.Fair},
				{[]string{"--sharing", "asymmetric", "--ack-weight", "0.05"}, p.SimGrid.Crossed},
			} {
				status, out, stderr := topocast(append([]string{"predict", "--no-latency", "--json", platform, transfers}, mode.flags...)...)
				var got struct {
					Completion []float64 `json:"completion_s"`
				}
				if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 || len(got.Completion) != len(mode.want) {
					t.Fatalf("%s %v: status %d, %v: %s%s", p.ID, mode.flags, status, err, out, stderr)
				}
				for i, want := range mode.want {
					if math.Abs(got.Completion[i]-want) > 1e-6*want {
						t.Errorf("%s %v: transfer %d complete at %.9g s, want %.9g", p.ID, mode.flags, i, got.Completion[i], want)
					}
				}
			}
		}
	}
	if patterns != 72 {
		t.Errorf("%d patterns, want 72", patterns)
	}
}
