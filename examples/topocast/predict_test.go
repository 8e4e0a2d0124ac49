package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
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
			Completion []float64 `json:"completion_s"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Completion) != 2 {
			t.Fatalf("%v in %s", err, out)
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
		{[]string{network, write(t, "t.json", `{"transfers":[{"src":0,"dst":7,"bytes":1,"start_s":0}]}`)}, "7"},
		{[]string{network, write(t, "t.json", `{"transfers":[{"src":0,"dst":1,"bytes":0,"start_s":0}]}`)}, "0"},
		{[]string{network, write(t, "t.json", `{"transfers":`)}, "t.json"},
		{[]string{write(t, "n.json", `{"format":"topocast/network","version":99}`), good}, "version"},
		{[]string{"--sharing", "unfair", network, good}, `"unfair"`},
	} {
		status, out, stderr := topocast(append([]string{"predict"}, c.args...)...)
		if status != 2 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, stdout %q, stderr %q, want 2, nothing, and one line with %q", c.args, status, out, stderr, c.want)
		}
	}
}
