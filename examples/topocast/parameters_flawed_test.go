package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// editedRows is a copy of a file of measurements with other rows.
func editedRows(t *testing.T, file string, edit func(row []float64) [][]float64) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	rows := 0
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "["):
			var row []float64
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			for _, r := range edit(row) {
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				out.Write(append(text, '\n'))
				rows++
			}
		case strings.HasPrefix(line, `{"closed"`):
			fmt.Fprintf(&out, "{\"closed\":true,\"sections\":1,\"rows\":%d}\n", rows)
		default:
			out.WriteString(line)
		}
	}
	return write(t, "edited.json", out.String())
}

// TestReconstructFlawedParameters: parameters that lack pairs or sizes, or have some twice, give one clear line, or the groups all the
// same where what is left is enough.
func TestReconstructFlawedParameters(t *testing.T) {
	file := framFile(t)
	keep := func(when func(from, to, bytes float64) bool) string {
		return editedRows(t, file, func(r []float64) [][]float64 {
			if when(r[0], r[1], r[2]) {
				return [][]float64{r}
			}
			return nil
		})
	}
	between := func(a, b float64, x, y float64) bool { return a == x && b == y || a == y && b == x }
	noPair := keep(func(from, to, _ float64) bool { return !between(from, to, 3, 30) })
	for _, c := range []struct{ what, file, args, want string }{
		{"a pair is missing, and a clustering wants all", noPair, "--method average", "edited.json: distances: that of hosts 3 and 30 is not known: want one of every pair"},
		{"a search, too", noPair, "--method average --search", "that of hosts 3 and 30 is not known"},
		{"a rank is missing", keep(func(from, to, _ float64) bool { return from != 5 && to != 5 }), "", "edited.json: linkage: hosts 0 and 5: "},
		{"a row is there twice", editedRows(t, file, func(r []float64) [][]float64 { return [][]float64{r, r} }), "", "row 1: from "},
		{"nothing is there", keep(func(_, _, _ float64) bool { return false }), "", "no pair has it"},
	} {
		status, out, stderr := topocast(append(append([]string{"reconstruct", "--distance", "rtt"}, strings.Fields(c.args)...), c.file)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q: want %d and one line with %q", c.what, status, out, stderr, cli.StatusInput, c.want)
		}
	}
	for _, c := range []struct{ what, file, args, warning string }{
		{"linkage does without a pair", noPair, "", ""},
		{"sizes are missing", keep(func(_, _, bytes float64) bool { return bytes == 0 || bytes > 64 }), "", ""},
		{"the message is longer than all that were measured", file, "--bytes 1GiB", "are longer than all that were measured"},
	} {
		status, out, stderr := topocast(append(append([]string{"reconstruct", "--distance", "rtt", "--truth", metadata}, strings.Fields(c.args)...), c.file)...)
		if status != 0 || !strings.Contains(strings.Join(strings.Fields(out+stderr), " "), c.warning) || c.warning == "" && !strings.Contains(strings.Join(strings.Fields(out), " "), "socket 8 8 1.000") {
			t.Errorf("%s: status %d: %s%s", c.what, status, out, stderr)
		}
	}
}
