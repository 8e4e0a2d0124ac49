package columns

import (
	"errors"
	"strings"
	"testing"
)

// TestTable: by hand.
func TestTable(t *testing.T) {
	var b strings.Builder
	x := New(&b, "size", "fastest", "")
	x.Row("8 B", "flat", "")
	x.Row(1024, "chain", "shown below")
	if err := x.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "size  fastest\n8 B   flat\n1024  chain    shown below\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	y := New(&b)
	y.Row("a", 1)
	if err := y.Flush(); err != nil || b.String() != "a  1\n" {
		t.Errorf("without names: %q, %v", b.String(), err)
	}
	b.Reset()
	z := New(&b, "n")
	for n := range 3 {
		z.Row(n)
	}
	if err := z.FlushFirst(2); err != nil || b.String() != "n\n0\n1\nand 1 more; --json lists all\n" {
		t.Errorf("the first two: %q, %v", b.String(), err)
	}
	full := errors.New("full")
	if err := New(broken{full}, "a").Flush(); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }
