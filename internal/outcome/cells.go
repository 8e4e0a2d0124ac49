package outcome

import (
	"fmt"
	"math"
	"strconv"

	"github.com/topocast/topocast/internal/quantity"
)

// signed is a difference in percent with its sign.
func signed(x float64) string {
	if x > 0 {
		return "+" + quantity.Percent(x)
	}
	return quantity.Percent(x)
}

func withUnit(x float64, unit string) string {
	text := show(x, unit)
	if unit == "%" && !math.IsNaN(x) {
		text += " %"
	}
	return text
}

// show is a number as a cell has it.
func show(x float64, unit string) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case unit == "s":
		return quantity.Seconds(x)
	case unit == "B/s":
		return quantity.Rate(x)
	case unit == "B" && x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return quantity.Bytes(int64(x))
	case unit == "%":
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// head is the name of a column with the unit that its cells do not have.
func (c Column) head() string {
	switch c.Unit {
	case "", "s", "B/s", "B":
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// decimals is how many the plain numbers of column k have, so that the column is even. The largest number has three digits,
// or all before the point. Whole numbers have none.
func (t *Table) decimals(k int) int {
	largest, whole := 0.0, true
	for _, row := range t.Rows {
		if v, is := row[k].(float64); is {
			largest = max(largest, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	if whole {
		return 0
	}
	const digits = 3
	return min(9, max(0, digits-1-int(math.Floor(math.Log10(largest)))))
}

// cells are the rows as text.
func (t *Table) cells() [][]string {
	rows := make([][]string, len(t.Rows))
	for k, c := range t.Columns {
		decimals := t.decimals(k)
		for i, row := range t.Rows {
			text := "-"
			switch v := row[k].(type) {
			case string:
				text = v
			case float64:
				if text = show(v, c.Unit); c.Unit == "" {
					text = strconv.FormatFloat(v, 'f', decimals, 64)
				}
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}
