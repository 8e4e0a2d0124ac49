package encode

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/topocast/topocast/internal/stats"
)

// A list has a line for each pair: two hosts and numbers, of which one is the latency. The names of the columns tell which, if there are
// several. A pair may be given in one direction or in both, and several times.

var (
	timeColumn = regexp.MustCompile(`(?i)lat|rtt|delay|ping|time`)
	sizeColumn = regexp.MustCompile(`(?i)size|bytes|length`)
)

// isPairs tells whether each row has two names, and the same number of numbers. Names may be numbers, of which no pair has one twice.
// Rows of two numbers and one more are pairs if there are more than three, which may be a matrix; with more numbers, if the columns
// have names and are no square.
func isPairs(header *tableLine, rows []tableLine) bool {
	wide := len(rows[0].cells)
	isNumbered := len(rows) > 3
	if wide > 3 {
		isNumbered = header != nil && len(header.cells) == wide && len(rows) != wide && len(rows) != wide-1
	}
	isName := func(c tableCell) bool {
		if c.number {
			x, err := strconv.Atoi(c.text)
			return err == nil && x >= 0 && isNumbered
		}
		return !c.absent
	}
	for _, l := range rows {
		if wide < 3 || len(l.cells) != wide || !isName(l.cells[0]) || !isName(l.cells[1]) || l.cells[0].number && l.cells[0].text == l.cells[1].text {
			return false
		}
	}
	return true
}

// latencyColumn returns the column of latencies in a list of pairs.
func latencyColumn(header *tableLine, rows []tableLine) (int, error) {
	wide := len(rows[0].cells)
	if wide == 3 {
		return 2, nil
	}
	var times []int
	if header != nil && len(header.cells) == wide {
		for k := 2; k < wide; k++ {
			name := header.cells[k].text
			if !rateUnit.MatchString(name) && (timeColumn.MatchString(name) || timeUnit.MatchString(name)) {
				times = append(times, k)
			}
			for _, l := range rows {
				if sizeColumn.MatchString(name) && l.cells[k].text != rows[0].cells[k].text {
					return 0, fmt.Errorf("line %d: a list of pairs with several sizes of messages: keep the lines of one", l.number)
				}
			}
		}
	}
	if len(times) != 1 {
		return 0, fmt.Errorf("line %d: a list of pairs with %d columns of numbers: keep the one of latencies, or name that one alone latency in a first line", rows[0].number, wide-2)
	}
	return times[0], nil
}

// writePairs writes a square of a list of pairs. Names come in the order in which they are met.
func (r *rewritten) writePairs(header *tableLine, rows []tableLine, unit Unit) error {
	column, err := latencyColumn(header, rows)
	if err != nil {
		return err
	}
	index := map[string]int{}
	var names []string
	at := func(name string) int {
		i, known := index[name]
		if !known {
			i = len(names)
			index[name] = i
			names = append(names, name)
		}
		return i
	}
	samples := map[[2]int][]*tableCell{}
	var numbers []*tableCell
	most := 0
	for i := range rows {
		cells := rows[i].cells
		key := [2]int{at(cells[0].text), at(cells[1].text)}
		samples[key] = append(samples[key], &cells[column])
		numbers = append(numbers, &cells[column])
		most = max(most, len(samples[key]))
	}
	if err := r.unify(numbers, unit); err != nil {
		return unitError{fmt.Errorf("line %d: %w", rows[0].number, err)}
	}
	if header != nil && len(header.cells) == len(rows[0].cells) && r.unit == 0 {
		if u, err := ParseUnit(header.cells[column].text); err == nil { // "from,to,us"
			r.unit, r.where = u, header.cells[column].text
		}
	}
	if err := maySquare(len(names), len(samples)); err != nil {
		return fmt.Errorf("line %d: %w", rows[0].number, err)
	}
	if most > 1 {
		r.warnings = append(r.warnings, fmt.Sprintf("pairs are given up to %d times: the median of each counts", most))
	}
	r.names = "from a list of pairs"
	grid := make([][]*tableCell, len(names))
	for i := range grid {
		grid[i] = make([]*tableCell, len(names))
		for k := range grid[i] {
			grid[i][k] = median(samples[[2]int{i, k}])
			if grid[i][k] == nil {
				grid[i][k] = median(samples[[2]int{k, i}])
			}
		}
	}
	return r.write(names, grid)
}

// maySquare refuses a square of which pairs fill so little that it would cost far more memory than its file.
func maySquare(hosts, pairs int) error {
	if hosts > maxColumns || hosts > 1000 && pairs < hosts*hosts/100 {
		return fmt.Errorf("%d pairs of %d hosts: want at least one in a hundred, and at most %d hosts", pairs, hosts, maxColumns)
	}
	return nil
}

// median returns the cell of the median of the numbers, the first cell if none is one, or nil of no cells. Of an even count it is the mean
// of the two in the middle.
func median(cells []*tableCell) *tableCell {
	if len(cells) < 2 {
		return append(cells, nil)[0]
	}
	var numbers []float64
	for _, c := range cells {
		if x, err := strconv.ParseFloat(c.text, 64); err == nil && c.number {
			numbers = append(numbers, x)
		}
	}
	if len(numbers) == 0 {
		return cells[0]
	}
	return &tableCell{text: strconv.FormatFloat(stats.MiddleMedian(numbers), 'g', -1, 64), number: true}
}
