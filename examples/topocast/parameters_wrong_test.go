package main

import (
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/record"
)

// TestWrongParameters: what is wrong with flags and files of distances, searches and truths is told in one line that names the flag or
// the file and what was wanted, and nothing is printed.
func TestWrongParameters(t *testing.T) {
	file := framFile(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header := record.Header{Ranks: 2, Hosts: []string{"a", "b"}, Cores: []int{0, 0}, CPUs: []int{1, 1}, GOMAXPROCS: []int{1, 1}}
	none := &record.File{Header: header, Sections: []*record.Section{{Kind: "other", Columns: []string{"from", "to"}}}}
	other := write(t, "other.json", "")
	if err := none.WriteFile(other); err != nil {
		t.Fatal(err)
	}
	unbound := write(t, "unbound.json", strings.Replace(string(whole), `"cores":[0,`, `"cores":[-1,`, 1))
	matrix, empty, noise := write(t, "matrix.csv", twoPairs), write(t, "empty", ""), write(t, "noise", "\x00\x01 nothing")
	xml := write(t, "host.xml", socketsXML)
	const rtt, wants = "--distance rtt", "holds no PLogP parameters: topocast measure --what plogp measures them"
	// Of each line: the arguments, the file of measurements, and what the error says.
	for _, c := range []struct{ args, file, want string }{
		{"", file, "holds PLogP parameters: want --distance"},
		{"--distance=", file, `--distance: distance "": want time, latency, time33, rtt or profile`},
		{"--distance far", file, `--distance: distance "far": want time, latency, time33, rtt or profile`},
		{"--distance latency,time", file, `--distance: distance "latency,time": want `},
		{"--bytes 8", file, "--bytes: only with --distance"},
		{"--fit linear", file, "--fit: only with --distance"},
		{rtt + " --bytes -1", file, `--bytes: "-1": want a size`},
		{rtt + " --bytes=", file, `--bytes: "": want a size`},
		{rtt + " --bytes 1.5", file, `--bytes: "1.5": want a size`},
		{rtt + " --bytes 99999999999999999999", file, "--bytes: "},
		{rtt + " --fit square", file, `--fit "square": want piecewise or linear`},
		{rtt + " --fit=", file, `--fit "": want piecewise or linear`},
		{rtt + " --unit us", file, "--unit: with --distance"},
		{rtt, matrix, "matrix.csv: " + wants},
		{rtt, other, "other.json: " + wants},
		{rtt, xml, "host.xml: " + wants},
		{rtt, empty, "empty: is empty"},
		{rtt, noise, "noise: " + wants},
		{rtt, "none.json", "none.json: no such file"},

		{rtt + " --search", file, "--search: the method linkage has no parameter to search for: want kmedoids, "},
		{rtt + " --search --method kmedoids --k 3", file, "--search: finds --k or --eps itself"},
		{rtt + " --search --method dbscan --eps 1", file, "--search: finds --k or --eps itself"},
		{rtt + " --search --method kmedoids --score best", file, `--score "best": want silhouette, dbcv or stability`},
		{rtt + " --search --method kmedoids --score=", file, `--score "": want silhouette, dbcv or stability`},
		{rtt + " --search=often --method kmedoids", file, "--search often: want true or false; see"},
		{rtt + " --score dbcv", file, "--score: only with --search"},
		{rtt + " --method dbscan --eps -1", file, "--eps -1: want at least 0"},

		{rtt + " --truth=", file, "--truth: want a value"},
		{rtt + " --truth none", file, "--truth: open none: no such file"},
		{rtt + " --truth " + empty, file, "--truth: "},
		{rtt + " --truth " + noise, file, "noise: the file is no text: "},
		{rtt + " --truth " + matrix, file, "matrix.csv: no network: want JSON of topocast, "},
		{rtt + " --truth " + file, file, "holds measurements: "},
		{rtt + " --json --truth metadata", file, "--truth: what it prints is no part of --json"},
		{"--unit us --truth metadata", matrix, "a plain matrix has none"},
		{"--unit us --truth " + xml, matrix, "host.xml: is of the cores of a host"},
		{rtt + " --truth " + write(t, "few", "cluster { group {0-3} group {4-7} }"), file, "few: groups of 8 ranks, and the other file is of 32"},
		{rtt + " --truth " + write(t, "many", strings.Replace(nodeGroups, "24-31", "24-32", 1)), file, "many: groups of 33 ranks, and the other file is of 32"},
		{rtt + " --truth " + write(t, "gap", strings.Replace(nodeGroups, "8-15", "9-15", 1)), file, "gap: LGate topology: rank 8 is in no group, but rank 31 is"},
		{rtt + " --truth " + write(t, "twice", strings.Replace(nodeGroups, "8-15", "7-15", 1)), file, "twice: LGate topology: rank 7 is in two groups"},
		{rtt + " --truth " + write(t, "cut", nodeGroups[:30]), file, "cut: LGate topology: "},
		{rtt + " --truth " + write(t, "small.xml", strings.Replace(socketsXML, `"7"`, `"9"`, 1)), file, "small.xml: has no core 7, at which rank 7 is"},
		{rtt + " --truth " + write(t, "cut.xml", socketsXML[:60]), file, "cut.xml: hwloc: "},
		{rtt + " --truth " + xml, unbound, "host.xml: has no core -1, at which rank 0 is (-1: not bound)"},
	} {
		status, out, stderr := topocast(append(append([]string{"reconstruct"}, strings.Fields(c.args)...), c.file)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q of %s: status %d, printed %q, %q: want %d and one line with %q", c.args, c.file, status, out, stderr, cli.StatusInput, c.want)
		}
	}
}
