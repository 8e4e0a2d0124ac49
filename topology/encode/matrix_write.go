package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// plainName matches names that need no quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:/-]*$`)

// WriteMatrix writes latencies in s as CSV in the given unit: a comment that
// names the unit, a line of names unless names is nil, and a line per host. The
// diagonal and cells that are NaN are left empty. The numbers are the shortest
// that [ReadMatrix] reads back as they were, if the unit is one of the four; it
// reads everything that is written. Negative and infinite latencies, names with
// a line break, and more hosts than ReadMatrix takes are errors. O(n^2).
func WriteMatrix(w io.Writer, m mat.Matrix, names []string, unit Unit) (err error) {
	defer naming("write matrix", &err)
	n, columns := m.Dims()
	power, isKnown := unit.exponent()
	switch {
	case n != columns:
		return fmt.Errorf("%d x %d: want a square matrix", n, columns)
	case n < 1 || n > maxColumns:
		return fmt.Errorf("%s: want in [1, %d]", words.Count(n, "host"), maxColumns)
	case names != nil && len(names) != n:
		return fmt.Errorf("%s for %s", words.Count(len(names), "name"), words.Count(n, "host"))
	case !isKnown:
		return fmt.Errorf("unit of %g s: want s, ms, us or ns", float64(unit))
	}
	for i := range n {
		for j := range n {
			if v := m.At(i, j); i != j && (v < 0 || math.IsInf(v, 0)) {
				return fmt.Errorf("entry (%d,%d) is %g: want at least 0, or NaN", i, j, v)
			}
		}
	}
	buffer := bufio.NewWriter(w)
	fmt.Fprintf(buffer, "%s, unit: %s\n", ownComment, unit)
	if names != nil {
		line, err := nameLine(names)
		if err != nil {
			return err
		}
		buffer.WriteString(line)
	}
	var cell []byte
	for i := range n {
		for j := range n {
			if j > 0 {
				buffer.WriteByte(',')
			}
			if v := m.At(i, j); i != j && !math.IsNaN(v) {
				cell = quantity.AppendShifted(cell[:0], v, power)
				buffer.Write(cell)
			}
		}
		if n == 1 {
			buffer.WriteString("nan") // an empty line would be none
		}
		buffer.WriteByte('\n')
	}
	return buffer.Flush()
}

// nameLine is the line of names; those that may be taken for something else
// are quoted.
func nameLine(names []string) (string, error) {
	var line strings.Builder
	for i, name := range names {
		if strings.ContainsAny(name, "\r\n") {
			return "", fmt.Errorf("name %d, %q, has a line break", i, name)
		}
		if i > 0 {
			line.WriteByte(',')
		}
		if plainName.MatchString(name) {
			line.WriteString(name)
		} else {
			line.WriteString(`"` + strings.ReplaceAll(name, `"`, `""`) + `"`)
		}
	}
	if line.Len() >= maxLine {
		return "", fmt.Errorf("names of %d bytes: want less than %d", line.Len(), maxLine)
	}
	line.WriteByte('\n')
	return line.String(), nil
}
