package encode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// marketBanner begins the files of MatrixMarket (Boisvert, Pozo and Remington, NISTIR 5935, 1996).
const marketBanner = "%%MatrixMarket"

// marketForm is the whole first line, with the forms that can hold latencies.
var marketForm = regexp.MustCompile(`(?i)^%%MatrixMarket\s+matrix\s+(array|coordinate)\s+(?:real|double|integer)\s+(general|symmetric)\s*$`)

// readMarket reads a MatrixMarket file: the numbers of an array, column by column, or coordinates from 1 and a number in each line. Cells that
// the coordinates leave out were not measured, unless the matrix is symmetric and has the other one.
func (t *table) readMarket() (*shape, error) {
	fail := func(line int, format string, values ...any) (*shape, error) {
		return nil, fmt.Errorf("line %d: MatrixMarket: "+format, append([]any{line}, values...)...)
	}
	form := marketForm.FindStringSubmatch(t.market)
	if form == nil {
		return fail(1, "want matrix, array or coordinate, real or integer, general or symmetric")
	}
	isArray, isSymmetric := strings.EqualFold(form[1], "array"), strings.EqualFold(form[2], "symmetric")
	lines := slices.DeleteFunc(t.lines, func(l tableLine) bool { return l.width == 0 })
	if len(lines) == 0 {
		return fail(t.end, "the file ends before the size")
	}
	var n, columns, count int
	found, _ := fmt.Sscan(lines[0].text, &n, &columns, &count)
	if n < 1 || n > maxColumns || n != columns || found == 3 == isArray {
		return fail(lines[0].number, "want the size of a square of at most %d hosts", maxColumns)
	}
	width := 3 // words in a line
	if isArray {
		width, count = 1, n*n
		if isSymmetric {
			count = n * (n + 1) / 2
		}
	} else if err := maySquare(n, count); err != nil {
		return fail(lines[0].number, "%w", err)
	}
	if len(lines)-1 != count {
		return fail(t.end, "the file ends after %d of %d numbers", len(lines)-1, count)
	}
	all := make([]entry, 0, count)
	i, j := 0, 0
	for _, l := range lines[1:] {
		cells := t.cells(l)
		if len(cells) != width {
			return fail(l.number, "%s: want %d", words.Count(len(cells), "number"), width)
		}
		if !isArray {
			if i, j = cells[0].whole()-1, cells[1].whole()-1; min(i, j) < 0 || max(i, j) >= n {
				return fail(l.number, "place %s %s: want two numbers from 1 to %d", cells[0].text, cells[1].text, n)
			}
		}
		all = append(all, entry{i, j, cells[width-1], l.number, width})
		if isSymmetric && i != j {
			all = append(all, entry{j, i, cells[width-1], l.number, width})
		}
		if i++; i == n { // of an array, which may be the triangle below the diagonal
			j++
			i = 0
			if isSymmetric {
				i = j
			}
		}
	}
	return &shape{n: n, used: len(lines), entries: slices.Values(all)}, nil
}
