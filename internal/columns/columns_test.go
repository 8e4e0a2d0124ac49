package columns

import (
	"strings"
	"testing"
)

// TestTable: by hand.
func TestTable(t *testing.T) {
	var b strings.Builder
	x := New(&b, "size", "fastest", "")
	x.Row("8 B", "flat", "")
	x.Row(1024, "chain", "shown below")
	x.Flush()
	if want := "size  fastest\n8 B   flat\n1024  chain    shown below\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	y := New(&b)
	y.Row("a", 1)
	if y.Flush(); b.String() != "a  1\n" {
		t.Errorf("without names: %q", b.String())
	}
	b.Reset()
	z := New(&b, "n")
	for n := range 3 {
		z.Row(n)
	}
	if z.FlushFirst(2); b.String() != "n\n0\n1\nand 1 more; --json lists all\n" {
		t.Errorf("the first two: %q", b.String())
	}
}
