package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

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

// TestNamesOfUsersStay: a file may have the name of a package. Errors of the library lose those names.
func TestNamesOfUsersStay(t *testing.T) {
	library := fmt.Errorf("model: encode: %w", fs.ErrInvalid)
	for want, err := range map[string]error{
		"topocast: model: invalid argument\n":            BadInput("%s: %w", "model", library),
		"topocast: --against: model: invalid argument\n": BadInput("--against: %w", BadInput("%s: %w", "model", library)),
		"topocast: rank 3: invalid argument\n":           fmt.Errorf("rank 3: %w", library),
	} {
		var text strings.Builder
		if Report(&text, "topocast", err); text.String() != want || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Report(%v) prints %q, want %q", err, text.String(), want)
		}
	}
}
