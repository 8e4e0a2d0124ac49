// Package limits declares the whole numbers of settings: of each its default and its range, in one row.
package limits

import (
	"cmp"
	"fmt"
)

// A Number is a field of settings. 0 stands for its default.
type Number struct {
	name               string
	value              *int
	usual, least, most int
}

// Of is the field of that name: its default, and its range.
func Of(name string, value *int, usual, least, most int) Number {
	return Number{name, value, usual, least, most}
}

// Fill fills in the defaults, in the fields themselves. An error names the first field that is then out of its range, behind
// the name of the settings.
func Fill(settings string, numbers ...Number) error {
	for _, n := range numbers {
		*n.value = cmp.Or(*n.value, n.usual)
		if *n.value < n.least || *n.value > n.most {
			return fmt.Errorf("%s.%s: %d: want in [%d, %d]", settings, n.name, *n.value, n.least, n.most)
		}
	}
	return nil
}
