package words

import "testing"

func TestWords(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, c := range []struct{ got, want string }{
		{Count(0, "host"), "0 hosts"},
		{Count(1, "host"), "1 host"},
		{Count(2, "host"), "2 hosts"},
		{Few(nil, 2), ""},
		{Few(names[:2], 2), "a, b"},
		{Few(names, 2), "a, b and 1 more"},
		{List([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}), "a, b, c, d, e, f, g, h and 1 more"},
		{Or([]string(nil)), ""},
		{Or(names[:1]), "a"},
		{Or(names[:2]), "a or b"},
		{Or(names), "a, b or c"},
		{Or([]int{1, 2}), "1 or 2"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	const text = "aa bb cc\ndd\n  a  table of  many columns\n  two\nee\n\nff"
	const want = "aa bb\ncc dd\n  a  table of  many columns\n  two\nee\n\nff"
	if got := Fill(text, 5); got != want {
		t.Errorf("Fill = %q, want %q", got, want)
	}
}
