package hostlist

import (
	"strings"
	"testing"
)

func TestHostRanges(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"h3", "h3"},
		{"h10 h8 h9 h11", "h8-h11"},
		{"n08 n09 n10 n12", "n08-n10,n12"},
		{"n8 n08 n9", "n08,n8,n9"},
		{"login h1 h2", "h1,h2,login"},
		{"a1 b1 c1 d1 e1 f1 g1 h1", "a1,b1,c1,d1,e1,f1 and 2 more"},
		{"", ""},
	} {
		if got := Ranges(strings.Fields(c.names)); got != c.want {
			t.Errorf("Ranges(%s) = %q, want %q", c.names, got, c.want)
		}
	}
}
