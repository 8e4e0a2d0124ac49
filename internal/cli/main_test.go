package cli

import "testing"

// TestPlain: by hand.
func TestPlain(t *testing.T) {
	for message, want := range map[string]string{
		"local: rank 1: check: 1 host: want at least 4": "rank 1: 1 host: want at least 4",
		"x.json: model: read network: format is wrong":  "x.json: read network: format is wrong",
		"--what: measure":                                           "--what: measure",
		"open x: no such file or directory":                         "open x: no such file or directory",
		"placement: rankfile: the core of rank 0 is not known: why": "rankfile: the core of rank 0 is not known: why",
	} {
		if got := plain(message); got != want {
			t.Errorf("plain(%q) = %q, want %q", message, got, want)
		}
	}
}
