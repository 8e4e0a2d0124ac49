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
func readMarket(data []byte) (*rewritten, error) {
	fail := func(line int, format string, values ...any) (*rewritten, error) {
		return nil, formError{fmt.Errorf("line %d: MatrixMarket: "+format, append([]any{line}, values...)...)}
	}
	lines := strings.Split(string(data), "\n")
	banner := strings.Fields(strings.ToLower(lines[0]))
	if len(banner) != 5 || banner[1] != "matrix" || !slices.Contains([]string{"array", "coordinate"}, banner[2]) ||
		!slices.Contains([]string{"real", "double", "integer"}, banner[3]) || !slices.Contains([]string{"general", "symmetric"}, banner[4]) {
		return fail(1, "want matrix, array or coordinate, real or integer, general or symmetric")
	}
	isArray, isSymmetric := banner[2] == "array", banner[4] == "symmetric"
	width := 3
	if isArray {
		width = 1
	}
	var grid [][]*tableCell
	n, entries, count, i, j := 0, 0, 0, 0, 0
	for at, text := range lines {
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(text, "%") {
			continue
		}
		if grid == nil {
			size, err := wholeNumbers(words)
			if err != nil || len(size) != (width+3)/2 || size[0] < 1 || size[0] != size[1] {
				return fail(at+1, "want the size of a square")
			}
			if n = size[0]; isArray {
				size = append(size, n*n)
				if isSymmetric {
					size[2] = n * (n + 1) / 2
				}
			}
			entries = size[2]
			if n > maxColumns || entries > len(data) {
				return fail(at+1, "%d hosts and %d numbers do not fit into the file", n, entries)
			}
			if err := maySquare(n, entries); err != nil {
				return fail(at+1, "%w", err)
			}
			grid = make([][]*tableCell, n)
			for i := range grid {
				grid[i] = make([]*tableCell, n)
			}
			continue
		}
		if count++; len(words) != width || count > entries {
			return fail(at+1, "%d numbers in line %d of %d: want %d", len(words), count, entries, width)
		}
		if !isArray {
			place, err := wholeNumbers(words[:2])
			if err != nil || min(place[0], place[1]) < 1 || max(place[0], place[1]) > n || grid[place[0]-1][place[1]-1] != nil {
				return fail(at+1, "place %s %s: want two numbers from 1 to %d that are not given twice", words[0], words[1], n)
			}
			i, j = place[0]-1, place[1]-1
		}
		c := newTableCell(words[width-1])
		if !c.number && !c.absent {
			return fail(at+1, "%q is not a number", shorten([]byte(c.text)))
		}
		grid[i][j] = &c
		if isSymmetric {
			grid[j][i] = &c
		}
		if i++; isArray && i == n { // the next column, which begins at the diagonal if the matrix is symmetric
			if j++; isSymmetric {
				i = j
			} else {
				i = 0
			}
		}
	}
	if grid == nil || count != entries {
		return fail(len(lines), "the file ends after %d of %d numbers", count, entries)
	}
	r := &rewritten{}
	return r, r.write(nil, grid)
}

func wholeNumbers(words []string) (all []int, err error) {
	for _, w := range words {
		x, failed := strconv.Atoi(w)
		all, err = append(all, x), errors.Join(err, failed)
	}
	return all, err
}
