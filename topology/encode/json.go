package encode

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// maxHosts bounds the sizes that a file may claim, so that a few damaged
// bytes cannot make a reader allocate without end.
const maxHosts = 1 << 20

// known points to x, or is nil if x was not measured (NaN) or came out
// infinite: JSON has neither, so such values are left out, or null in lists.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// value is what p points to, NaN for nil.
func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// readJSON decodes the one JSON value of r into v. It refuses keys that v does
// not have, which would be misspelt or of another tool, and anything after the value.
func readJSON(r io.Reader, v any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if err == io.EOF {
			return fmt.Errorf("no content")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more after the end of the JSON value")
	}
	return nil
}

// checkFormat refuses files of another format and of later versions.
func checkFormat(format string, version int, want string, newest int) error {
	switch {
	case format != want:
		return fmt.Errorf("format is %q, want %q", format, want)
	case version < 1 || version > newest:
		return fmt.Errorf("version is %d, this program reads 1 to %d", version, newest)
	}
	return nil
}
