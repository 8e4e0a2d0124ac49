package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// discoveredOn is a network of ranks on these hosts of a simulated machine.
func discoveredOn(t *testing.T, machine string, hosts ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "net.json")
	args := []string{
		"discover", "--sim", machine, "--ranks", fmt.Sprint(len(hosts)), "--placement", write(t, "hosts", strings.Join(hosts, "\n")),
		"--patterns", "0", "-o", file,
	}
	if status, _, stderr := topocast(args...); status != 0 {
		t.Fatal(stderr)
	}
	return file
}

// TestHostsCalledByNumbers: a rank is the name of its host before it is a number, wherever the command takes one, and
// standard error says how a text was read that could be both. Names that a simulated graph has by itself are none of the hosts'.
func TestHostsCalledByNumbers(t *testing.T) {
	var hosts, links []string
	for _, name := range []string{"1", "2", "3", "4", "10-0"} {
		hosts = append(hosts, fmt.Sprintf("%q", name))
		links = append(links, fmt.Sprintf(`{"a":%q,"b":"9","latency_us":10,"bandwidth_MBps":100}`, name))
	}
	numbers := write(t, "num.json", fmt.Sprintf(`{"graph":{"hosts":[%s],"switches":["9"],"links":[%s]}}`, strings.Join(hosts, ","), strings.Join(links, ",")))
	shared := discoveredOn(t, numbers, "1", "1", "2", "2")
	shifted := discoveredOn(t, "star:4", "h1", "h2", "h3", "h0")
	for _, c := range []struct {
		args []string
		want string // the transfers
		told []string
	}{
		{[]string{numbers, "1", "3", "1MB"}, "0>2", []string{`"1" is read as the name of rank 0, not as rank 1`, `"3" is read as the name of rank 2, not as rank 3`}},
		{[]string{numbers, "0", "10-0", "1MB"}, "0>4", nil},
		{[]string{numbers, "--alltoall", "1,10-0", "--bytes", "1"}, "0>4 4>0", []string{`"1" is read`}},
		{[]string{numbers, "--alltoall", "3-4", "--bytes", "1"}, "2>3 3>2", []string{`"3" is read`, `"4" is read`}},
		{[]string{write(t, "two.json", line3), "--alltoall", "all", "--bytes", "1"}, "0>1 0>2 1>0 1>2 2>0 2>1", nil},
		{[]string{shared, "--alltoall", "1-2", "--bytes", "1"}, "1>2 2>1", []string{`"1" is read as rank 1, not as the name that several have`, `"2" is read as rank 2`}},
		{[]string{shifted, "h1", "h3", "1MB"}, "0>2", nil},
		{[]string{shifted, "h0", "0", "1MB"}, "3>0", nil},
	} {
		status, out, stderr := topocast(append([]string{"predict", "--json"}, c.args...)...)
		var got struct {
			Transfers []struct{ Src, Dst int }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
			t.Errorf("%v: status %d, %v: %s", c.args, status, err, stderr)
			continue
		}
		var transfers []string
		for _, x := range got.Transfers {
			transfers = append(transfers, fmt.Sprintf("%d>%d", x.Src, x.Dst))
		}
		if all := strings.Join(transfers, " "); all != c.want || strings.Count(stderr, "\n") != len(c.told) {
			t.Errorf("%v: transfers %s, want %s: %s", c.args, all, c.want, stderr)
		}
		for _, line := range c.told {
			if !strings.Contains(stderr, line) {
				t.Errorf("%v: standard error %q, want %q", c.args, stderr, line)
			}
		}
	}

	// An end that is a name, and one that is a number.
	if status, out, stderr := topocast("predict", numbers, "--alltoall", "0-3", "--bytes", "1"); status != cli.StatusInput || out != "" || !strings.Contains(stderr, "--alltoall 0-3: 0-3: want the names of two hosts") {
		t.Errorf("0-3: status %d: %s%s", status, out, stderr)
	}

	// Of all INSIDE ranks that of host 4 is the external one.
	between := write(t, "b.tgf", "0 left (host)\n1 right (host)\n#\n0 1 l: 60\n")
	_, _, stderr := topocast("network", "join", "--external", "4", "--core", "1", between, numbers)
	for _, line := range []string{`"4" is read as the name of rank 3, not as rank 4`, `"1" is read as the name of rank 0, not as rank 1`} {
		if !strings.Contains(stderr, line) {
			t.Errorf("join: standard error %q, want %q", stderr, line)
		}
	}
	if status, out, stderr := topocast("network", "bisect", "--switch", "9", numbers); status != 0 || !strings.Contains(out, "switch 9") || stderr != "" {
		t.Errorf("bisect: status %d: %s%s", status, out, stderr)
	}
}

// TestWrongRanks: what is no rank, of no one rank, or in the wrong order.
func TestWrongRanks(t *testing.T) {
	shared := discoveredOn(t, "star:3", "h0", "h0", "h1", "h2")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"h0", "2", "1MB"}, `"h0": several have this name: want the number of a rank`},
		{[]string{"h9", "2", "1MB"}, `"h9": want one of h0, h0, h1, h2, or the number of a rank, in [0, 4)`},
		{[]string{"0", "4", "1MB"}, `"4": want one of`},
		{[]string{"--alltoall", "0,1,3-2", "--bytes", "1"}, "--alltoall 0,1,3-2: 3-2: rank 3 is after rank 2"},
		{[]string{"--alltoall", "0-2,1", "--bytes", "1"}, "--alltoall 0-2,1: rank 1 is given twice"},
		{[]string{"--alltoall", "1", "--bytes", "1"}, "--alltoall 1: want two ranks or more"},
	} {
		status, out, stderr := topocast(append([]string{"predict", shared}, c.args...)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, %q, want %d and %q", c.args, status, out, stderr, cli.StatusInput, c.want)
		}
	}
}
