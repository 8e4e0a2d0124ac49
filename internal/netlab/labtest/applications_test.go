//go:build linux

package labtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
)

// BenchmarkApplications prints the tables of examples/summa, of a product and of X U = B, and of examples/cg, on two racks with
// ranks in turn, under both libraries, along the network that topocast discover finds: times of the library's own broadcast or
// Allreduce and of ours, in one job and in turn, communication, predicted and measured, and whether the order of ranks that
// was predicted to be better is. Then all of it as one table in Markdown. Some 5 minutes; parts by -bench, as
// Applications/mpich.
//
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench Applications -benchtime 1x -timeout 20m
func BenchmarkApplications(b *testing.B) {
	s, programs := castPrograms(b)
	cluster := castClusters(1)[0]
	l := programs.up(b, s, cluster.name, cluster.spec)
	var rows []string
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		b.Run(library, func(b *testing.B) {
			for b.Loop() {
				rows = append(rows, l.applications(b, library)...)
			}
		})
	}
	if rows != nil {
		fmt.Printf("\n%s, ranks in turn; times in ms, medians of %d\n\n%s\n%s\n", cluster.spec, applicationRepeats, applicationHead, strings.Join(rows, "\n"))
	}
}

// applicationLimit is how long one job may take, and applicationRepeats how often it runs each line.
const (
	applicationLimit   = 10 * time.Minute
	applicationRepeats = 7
)

// applications runs the programs and returns the rows of the table.
func (l *castLab) applications(tb testing.TB, library string) (rows []string) {
	network := l.network(tb, library)
	repeat := strconv.Itoa(applicationRepeats)
	summa, cg := build(tb, "../../../examples/summa"), build(tb, "../../../examples/cg")
	for _, p := range []struct {
		name      string
		program   []string
		shares    int // columns before that which is predicted
		predicted int // the first of the columns that it is of
	}{
		{"C = A B", []string{summa, "-n", "256", "-panel", "64", "-repeat", repeat, "-budget", "1s", "-network", network}, 4, 1},
		{"X U = B", []string{summa, "-n", "256", "-panel", "64", "-trsm", "-repeat", repeat, "-budget", "1s", "-network", network}, 4, 1},
		{"CG", []string{cg, "-n", "64", "-repeat", repeat, "-network", network}, 5, 2},
	} {
		out := l.run(tb, library, "round-robin", applicationLimit, nil, p.program...)
		fmt.Println(out)
		rows = append(rows, applicationRows(library, p.name, out, p.shares, p.predicted)...)
	}
	return rows
}

const applicationHead = `| library | program | ranks | broadcast or Allreduce | time | communication | predicted | order predicted |
| --- | --- | --- | --- | --- | --- | --- | --- |`

// applicationRows are the lines of a table that summa or cg has printed, which have so many numbers before that of the predicted
// time, the communication being the one at a place among them.
func applicationRows(library, program, out string, numbers, communication int) (rows []string) {
	lines := strings.Split(out, "\n")
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) < 3+numbers || words[0] != "by" || words[1] != "rows" && words[1] != "cols" {
			continue
		}
		at := len(words) - numbers - 1
		name := strings.Join(words[2:at], " ")
		columns := words[at:]
		time := columns[0]
		if numbers == 5 { // iterations come first
			time = columns[1]
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |", library, program, strings.Join(words[:2], " "), name,
			time, columns[communication], columns[numbers], orderVerdict(lines, name)))
	}
	return rows
}

// orderVerdict is what a program says of its prediction of the better order, for a kind of broadcast where it tells them apart.
func orderVerdict(lines []string, name string) string {
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "predicted to") })
	if at < 0 {
		return ""
	}
	for _, line := range lines[at+1:] {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestApplicationRows(t *testing.T) {
	for _, x := range []struct {
		out           string
		numbers, edge int
		want          []string
	}{
		{
			`ranks   broadcast                       time communi. synchro. comput. predicted
by rows native                         0.361    0.098    0.085   0.049         -
by cols along the wiring, overlap      0.382    0.234    0.179   0.090     1.000
The order of ranks that was predicted to communicate less:
  native             by rows, right
  along the wiring   by cols, wrong`,
			4, 1,
			[]string{
				"| openmpi | x | by rows | native | 0.361 | 0.098 | - | by rows, right |",
				"| openmpi | x | by cols | along the wiring, overlap | 0.382 | 0.234 | 1.000 |  |",
			},
		},
		{
			`by rows along the wiring       83   38.371   10.473    27.768    0.083    14.905
The order of ranks that was predicted to communicate less:
  along the wiring by cols, right`,
			5, 2,
			[]string{"| openmpi | x | by rows | along the wiring | 38.371 | 10.473 | 14.905 | by cols, right |"},
		},
	} {
		if got := applicationRows(netlab.OpenMPI, "x", x.out, x.numbers, x.edge); !slices.Equal(got, x.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
	}
}
