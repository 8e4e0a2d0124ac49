package encode

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// A host that does not answer is written in many ways: empty cells, zeros, a number that stands for "no answer". What is absent
// becomes NaN here, and a host of which nothing is left is left out. Each step says so in a warning.

// hostsOnly returns the hosts of which each cell, to others and back, holds.
func (l *Latencies) hostsOnly(holds func(float64) bool) (hosts []int) {
	n, _ := l.Matrix.Dims()
	for i := range n {
		all := true
		for k := range n {
			all = all && (i == k || holds(l.Matrix.At(i, k)) && holds(l.Matrix.At(k, i)))
		}
		if all {
			hosts = append(hosts, i)
		}
	}
	return hosts
}

// leaveOutSilent takes zeros for "no answer" where a host has nothing else and the others have more. A host cannot be as near as that to
// hosts that are apart.
func (l *Latencies) leaveOutSilent() {
	n, _ := l.Matrix.Dims()
	silent := l.hostsOnly(func(v float64) bool { return v == 0 })
	if len(silent) == 0 || n-len(silent) < 2 || largest(l.Matrix) == 0 {
		return
	}
	for _, i := range silent {
		for k := range n {
			l.Matrix.Set(i, k, math.NaN())
			l.Matrix.Set(k, i, math.NaN())
		}
	}
	l.Warnings = append(l.Warnings, "zeros to all other hosts are taken for no answer")
}

// leaveOutPlaceholders takes the largest value for "no answer", if it is a hundred times the next and looks like one: nines
// (99999), a round number (3000, 1000000), or all bits of a word (65535). Besides, one of these must hold:
//
//   - it is made of nines and stands there several times;
//   - it fills the rows and columns of some hosts and stands nowhere else;
//   - wherever it stands, the way over a third host is a hundred times shorter.
//
// Two sites whose latency happens to be a round number keep it.
func (l *Latencies) leaveOutPlaceholders() {
	const maxDigits = 20 // of the largest 64-bit word
	n, _ := l.Matrix.Dims()
	values := l.Matrix.RawMatrix().Data
	most, next, count := largest(l.Matrix), 0.0, 0
	for _, v := range values {
		if v == most {
			count++
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
	if !isNines && !isWord && !strings.HasSuffix(digits, "00") {
		return
	}
	silent := len(l.hostsOnly(func(v float64) bool { return v == most }))
	isHosts := count == n*(n-1)-(n-silent)*(n-silent-1) // all cells of these hosts, and no others
	if !(isNines && count > 1) && !isHosts && !l.isOutflanked(most) {
		return
	}
	for at, v := range values {
		if v == most {
			values[at] = math.NaN()
		}
	}
	l.Warnings = append(l.Warnings, fmt.Sprintf("%d cells of %.6g %s, a hundred times the next, are taken for no answer", count, most/float64(l.Unit), l.Unit))
}

// isOutflanked tells whether, wherever a value stands, the way over a third host is a hundred times shorter.
func (l *Latencies) isOutflanked(value float64) bool {
	n, _ := l.Matrix.Dims()
	for at, v := range l.Matrix.RawMatrix().Data {
		shorter := v != value
		for k := 0; k < n && !shorter; k++ {
			shorter = 100*(l.Matrix.At(at/n, k)+l.Matrix.At(k, at%n)) <= value // not if one is NaN
		}
		if !shorter {
			return false
		}
	}
	return true
}

// leaveOutDead leaves out the hosts of which nothing was measured, and names them.
func (l *Latencies) leaveOutDead() {
	n, _ := l.Matrix.Dims()
	isDead := make([]bool, n)
	for _, i := range l.hostsOnly(math.IsNaN) {
		isDead[i] = true
	}
	var alive []int
	var dead, names []string
	for i := range n {
		name := strconv.Itoa(i)
		if l.Names != nil {
			name = l.Names[i]
		}
		if isDead[i] {
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
