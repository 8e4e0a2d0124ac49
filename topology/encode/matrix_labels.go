package encode

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// Numbers of hosts beside and above a table look like latencies. The reader of tables knows them if they count from 0; the functions
// here judge the others, and refuse what has two meanings.

// risesWhole tells whether the first line and the first column of a matrix are the same ascending whole numbers, in the unit of the file.
func (l *Latencies) risesWhole() bool {
	n, _ := l.Matrix.Dims()
	last := -1.0
	for i := 1; i < n; i++ {
		x := l.Matrix.At(0, i) / float64(l.Unit)
		if !isWhole(x) || l.Matrix.At(0, i) != l.Matrix.At(i, 0) || x <= last {
			return false
		}
		last = x
	}
	return true
}

// mayBeNumbered tells whether the first line and column of a table may be numbers of hosts, which look like latencies.
// If they count from 0 the reader knows.
func mayBeNumbered(data []byte, l *Latencies) bool {
	if len(data) > mostRewritten || !l.risesWhole() {
		return false
	}
	lines, _, _ := tableLines(data)
	lines = slices.DeleteFunc(lines, func(l tableLine) bool { return l.cells == nil })
	if len(lines) != l.Matrix.RawMatrix().Rows || !numbersHosts(lines) {
		return false
	}
	// They do, if the corner alone of the diagonal is empty, or if they are in another scale than the rest.
	n := len(lines)
	isCorner := lines[0].cells[0].absent
	for i := 1; i < n; i++ {
		isCorner = isCorner && !lines[i].cells[i].absent
	}
	if isCorner {
		return true
	}
	least, most := math.Inf(1), 0.0
	for i := 1; i < n; i++ {
		for k := 1; k < n; k++ {
			if v := l.Matrix.At(i, k); i != k && v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	first, last := l.Matrix.At(0, 1), l.Matrix.At(0, n-1)
	if last < least || first > most || math.IsNaN(first) {
		return true
	}
	l.Warnings = append(l.Warnings, "the first line and the first column are the same whole numbers and were taken for latencies: if they are numbers of hosts, write a name into the corner")
	return false
}

// isWhole tells whether a number is whole but for what a unit rounds.
func isWhole(x float64) bool { return math.Abs(x-math.Round(x)) < 1e-9*math.Max(1, x) }

// leastLabelled is how many lines a table has of which the first may be numbers of hosts: of three numbers any may ascend.
const leastLabelled = 4

// mayBeLabelled refuses a table whose first line and column are the same ascending whole numbers below and beside a number, where
// others have fractions: they may be numbers of hosts, or the latencies of a host that happen to be whole. So may be three lines
// that name the three pairs of three hosts.
func (l *Latencies) mayBeLabelled(data []byte) error {
	n, _ := l.Matrix.Dims()
	at := func(i, j int) float64 { return l.Matrix.At(i, j) / float64(l.Unit) }
	if n == 3 && n*n == len(strings.FieldsFunc(string(data), func(r rune) bool { return strings.ContainsRune(", ;\t\r\n", r) })) &&
		at(0, 1) == 1 && at(1, 0) == 0 && at(2, 0) == 1 && isWhole(at(1, 2)) == isWhole(at(0, 2)) && at(2, 1) == 2 {
		return errors.New("line 1: three lines of three numbers: a matrix, or a list of the pairs 0-1, 0-2 and 1-2? Names of the hosts tell")
	}
	if n < leastLabelled || !l.risesWhole() {
		return nil
	}
	fractions := false
	for i := 1; i < n; i++ {
		for k := 1; k < n; k++ {
			fractions = fractions || i != k && at(i, k) > 0 && !isWhole(at(i, k))
		}
	}
	if !fractions {
		return nil
	}
	return errors.New("line 1: the first line and the first column are the same whole numbers: of hosts, or latencies? A word in the corner makes them numbers of hosts, names of all hosts latencies")
}
