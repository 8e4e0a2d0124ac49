package encode

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// A host that does not answer is written in many ways: empty cells, zeros, a number that stands for "no answer". What is absent
// becomes NaN here, and a host of which nothing is left is left out. Each step says so in a warning.

// forget makes cells NaN.
func (l *Latencies) forget(isAbsent func(i, k int) bool) {
	l.Matrix.Apply(func(i, k int, v float64) float64 {
		if isAbsent(i, k) {
			return math.NaN()
		}
		return v
	}, l.Matrix)
}

// silent tells for each host whether all of its cells, to others and back, hold a value.
func (l *Latencies) silent(value float64) []bool {
	n, _ := l.Matrix.Dims()
	other := func(v float64) bool { return v != value && !(math.IsNaN(v) && math.IsNaN(value)) }
	is := slices.Repeat([]bool{true}, n)
	for i := range n {
		for k := range n {
			if i != k && other(l.Matrix.At(i, k)) {
				is[i], is[k] = false, false
			}
		}
	}
	return is
}

// leaveOutSilent takes zeros for "no answer" where a host has nothing else and two others have more. A host cannot be as near as that to
// hosts that are apart.
func (l *Latencies) leaveOutSilent() {
	silent := l.silent(0)
	if !slices.Contains(silent, true) || largest(l.Matrix) == 0 {
		return
	}
	l.forget(func(i, k int) bool { return silent[i] || silent[k] })
	l.Warnings = append(l.Warnings, "zeros to all other hosts are taken for no answer")
}

// leaveOutPlaceholders takes the largest value for "no answer", if it is a hundred times the next and looks like one: nines
// (99999), a round number (3000, 1000000), or all bits of a word (65535). Besides, it must be made of nines and stand there several times,
// or each of its cells must be one of these:
//
//   - in the row or the column of a host that has no other value;
//   - between two hosts that a way over a third one joins in a hundredth of the time.
//
// Two sites whose latency happens to be a round number keep it.
func (l *Latencies) leaveOutPlaceholders() {
	const maxDigits = 20 // of the largest 64-bit word
	n, _ := l.Matrix.Dims()
	values := l.Matrix.RawMatrix().Data
	most, next := largest(l.Matrix), 0.0
	var cells []int
	for at, v := range values {
		if v == most {
			cells = append(cells, at)
		} else if v > next {
			next = v
		}
	}
	if next == 0 || most < 100*next {
		return
	}
	digits := strconv.FormatFloat(most/float64(l.Unit), 'f', 0, 64)
	if len(digits) > maxDigits {
		digits = "00" // nobody measures as much
	}
	isNines := len(digits) > 2 && strings.Trim(digits, "9") == ""
	word, err := strconv.ParseUint(digits, 10, 64)
	isWord := err == nil && word >= math.MaxInt16 && word&(word+1) == 0
	silent := l.silent(most)
	isMeasured := func(at int) bool {
		i, k := at/n, at%n
		measured := !silent[i] && !silent[k]
		for over := 0; over < n && measured; over++ {
			measured = !(100*(l.Matrix.At(i, over)+l.Matrix.At(over, k)) <= most) // also if one is NaN
		}
		return measured
	}
	if !isNines && !isWord && !strings.HasSuffix(digits, "00") || !(isNines && len(cells) > 1) && slices.ContainsFunc(cells, isMeasured) {
		return
	}
	for _, at := range cells {
		values[at] = math.NaN()
	}
	l.Warnings = append(l.Warnings, fmt.Sprintf("%d cells of %.6g %s, a hundred times the next, are taken for no answer", len(cells), most/float64(l.Unit), l.Unit))
}

// leaveOutDead leaves out the hosts of which nothing was measured, and names them.
func (l *Latencies) leaveOutDead() {
	var alive []int
	var dead, names []string
	for i, isDead := range l.silent(math.NaN()) {
		name := strconv.Itoa(i)
		if l.Names != nil {
			name = l.Names[i]
		}
		if isDead {
			dead = append(dead, name)
		} else {
			alive, names = append(alive, i), append(names, name)
		}
	}
	if len(dead) == 0 || len(alive) < 2 {
		return
	}
	rest := mat.NewDense(len(alive), len(alive), nil)
	rest.Apply(func(i, k int, _ float64) float64 { return l.Matrix.At(alive[i], alive[k]) }, rest)
	l.Matrix, l.Names = rest, names
	l.Warnings = append(l.Warnings, fmt.Sprintf("nothing was measured of %s: left out", strings.Join(dead, ", ")))
}
