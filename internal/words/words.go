// Package words writes numbers of things and lists of names as sentences have them, in messages
// of all packages.
package words

import (
	"fmt"
	"strings"
)

// Count is a number of things: "1 host", "2 hosts".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") { // switch
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Few lists names, of many the first most of them: "n1, n2 and 5 more".
func Few(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// List lists names in a warning, where nobody reads more than eight.
func List(names []string) string { return Few(names, 8) }

// Or lists what one may choose from: "fair, asymmetric or fitted".
func Or[T any](choices []T) string {
	var b strings.Builder
	for i, c := range choices {
		switch {
		case i > 0 && i == len(choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, c)
	}
	return b.String()
}
