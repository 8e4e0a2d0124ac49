package encode

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// marketBanner begins the files of MatrixMarket (Boisvert, Pozo and Remington, NISTIR 5935, 1996).
const marketBanner = "%%MatrixMarket"

// readMarket reads a MatrixMarket file: the numbers of an array, column by column, or coordinates and a number in each line. Cells that
// the coordinates leave out were not measured.
func (t *table) readMarket() (*shape, error) {
	fail := func(line int, format string, values ...any) (*shape, error) {
		return nil, fmt.Errorf("line %d: MatrixMarket: "+format, append([]any{line}, values...)...)
	}
	banner := strings.Fields(strings.ToLower(t.market))
	if len(banner) != 5 || banner[1] != "matrix" || !slices.Contains([]string{"array", "coordinate"}, banner[2]) ||
		!slices.Contains([]string{"real", "double", "integer"}, banner[3]) || !slices.Contains([]string{"general", "symmetric"}, banner[4]) {
		return fail(1, "want matrix, array or coordinate, real or integer, general or symmetric")
	}
	isArray, isSymmetric := banner[2] == "array", banner[4] == "symmetric"
	lines := slices.DeleteFunc(t.lines, func(l tableLine) bool { return l.width == 0 })
	if len(lines) == 0 {
		return fail(t.end, "the file ends before the size")
	}
	size, err := wholeNumbers(strings.Fields(lines[0].text))
	if err != nil || len(size) < 2 || size[0] < 1 || size[0] != size[1] || !isArray && len(size) != 3 || isArray && len(size) != 2 {
		return fail(lines[0].number, "want the size of a square")
	}
	n, width, entries := size[0], 1, size[0]*size[0]
	switch {
	case !isArray:
		width, entries = 3, size[2]
	case isSymmetric:
		entries = n * (n + 1) / 2
	}
	if n > maxColumns {
		return fail(lines[0].number, "%d hosts: want at most %d", n, maxColumns)
	}
	if err := maySquare(n, entries); err != nil {
		return fail(lines[0].number, "%w", err)
	}
	if len(lines)-1 != entries {
		return fail(t.end, "the file ends after %d of %d numbers", len(lines)-1, entries)
	}
	all := make([]entry, 0, entries)
	seen := map[[2]int]bool{}
	i, j := 0, 0
	for _, l := range lines[1:] {
		words := strings.Fields(l.text)
		if len(words) != width {
			return fail(l.number, "%d numbers: want %d", len(words), width)
		}
		if !isArray {
			place, err := wholeNumbers(words[:2])
			if err != nil || min(place[0], place[1]) < 1 || max(place[0], place[1]) > n || seen[[2]int(place)] {
				return fail(l.number, "place %s %s: want two numbers from 1 to %d that are not given twice", words[0], words[1], n)
			}
			seen[[2]int(place)] = true
			i, j = place[0]-1, place[1]-1
		}
		c := newTableCell(words[width-1])
		all = append(all, entry{i, j, c, l.number, width})
		if isSymmetric && i != j {
			all = append(all, entry{j, i, c, l.number, width})
		}
		if i++; isArray && i == n { // the next column, which begins at the diagonal if the matrix is symmetric
			if j++; isSymmetric {
				i = j
			} else {
				i = 0
			}
		}
	}
	return &shape{n: n, used: len(lines), entries: slices.Values(all)}, nil
}

func wholeNumbers(words []string) (all []int, err error) {
	for _, w := range words {
		x, failed := strconv.Atoi(w)
		all, err = append(all, x), errors.Join(err, failed)
	}
	return all, err
}
