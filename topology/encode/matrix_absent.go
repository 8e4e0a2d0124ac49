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

// leaveOutSilent takes zeros for "no answer" where a host has nothing else and the others have more. A host cannot be as near as that to
// hosts that are apart.
func (l *Latencies) leaveOutSilent() {
	n, _ := l.Matrix.Dims()
	var silent []int
	for i := range n {
		zeros := true
		for k := range n {
			zeros = zeros && (i == k || l.Matrix.At(i, k) == 0 && l.Matrix.At(k, i) == 0)
		}
		if zeros {
			silent = append(silent, i)
		}
	}
	if len(silent) == 0 || n-len(silent) < 2 || largest(l.Matrix) == 0 {
		return
	}
	for _, i := range silent {
		for k := range n {
			if i != k {
				l.Matrix.Set(i, k, math.NaN())
				l.Matrix.Set(k, i, math.NaN())
			}
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
	most, next, count := 0.0, 0.0, 0
	n, _ := l.Matrix.Dims()
	for _, v := range l.Matrix.RawMatrix().Data {
		switch {
		case v > most:
			most, next, count = v, most, 1
		case v == most:
			count++
		case v > next:
			next = v
		}
	}
	if next == 0 || most < 100*next {
		return
	}
	digits := strconv.FormatFloat(most/float64(l.Unit), 'f', 0, 64)
	isNines := len(digits) > 2 && strings.Trim(digits, "9") == ""
	word, err := strconv.ParseUint(digits, 10, 64)
	isWord := err == nil && word >= math.MaxInt16 && word&(word+1) == 0
	if !isNines && !isWord && !strings.HasSuffix(digits, "00") {
		return
	}
	if !(isNines && count > 1) && !l.fillsHosts(most, count) && !l.isOutflanked(most) {
		return
	}
	for i := range n {
		for k := range n {
			if l.Matrix.At(i, k) == most {
				l.Matrix.Set(i, k, math.NaN())
			}
		}
	}
	l.Warnings = append(l.Warnings, fmt.Sprintf("%d cells of %.6g %s, a hundred times the next, are taken for no answer", count, most/float64(l.Unit), l.Unit))
}

// fillsHosts tells whether a value that stands in count cells stands in all cells of some hosts, and in no others.
func (l *Latencies) fillsHosts(value float64, count int) bool {
	n, _ := l.Matrix.Dims()
	silent := make([]bool, n)
	for i := range n {
		silent[i] = true
		for k := range n {
			if i != k && (l.Matrix.At(i, k) != value || l.Matrix.At(k, i) != value) {
				silent[i] = false
			}
		}
	}
	for i := range n {
		for k := range n {
			if i != k && (silent[i] || silent[k]) {
				count--
			}
		}
	}
	return count == 0
}

// isOutflanked tells whether, wherever a value stands, the way over a third host is a hundred times shorter.
func (l *Latencies) isOutflanked(value float64) bool {
	n, _ := l.Matrix.Dims()
	for i := range n {
		for j := range n {
			if l.Matrix.At(i, j) != value {
				continue
			}
			shorter := false
			for k := 0; k < n && !shorter; k++ {
				shorter = 100*(l.Matrix.At(i, k)+l.Matrix.At(k, j)) <= value // not if one is NaN
			}
			if !shorter {
				return false
			}
		}
	}
	return true
}

// leaveOutDead leaves out the hosts of which nothing was measured, and names them.
func (l *Latencies) leaveOutDead() {
	n, _ := l.Matrix.Dims()
	var alive []int
	var dead []string
	for i := range n {
		known := false
		for k := range n {
			known = known || !math.IsNaN(l.Matrix.At(i, k)) || !math.IsNaN(l.Matrix.At(k, i))
		}
		switch {
		case known:
			alive = append(alive, i)
		case l.Names != nil:
			dead = append(dead, l.Names[i])
		default:
			dead = append(dead, strconv.Itoa(i))
		}
	}
	if len(dead) == 0 || len(alive) < 2 {
		return
	}
	rest := mat.NewDense(len(alive), len(alive), nil)
	var names []string
	for i, a := range alive {
		for k, b := range alive {
			rest.Set(i, k, l.Matrix.At(a, b))
		}
		if l.Names != nil {
			names = append(names, l.Names[a])
		} else {
			names = append(names, strconv.Itoa(a))
		}
	}
	l.Matrix, l.Names = rest, names
	l.Warnings = append(l.Warnings, fmt.Sprintf("nothing was measured of %s: left out", strings.Join(dead, ", ")))
}
