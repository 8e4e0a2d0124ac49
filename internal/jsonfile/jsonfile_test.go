package jsonfile

import (
	"math"
	"strings"
	"testing"
)

func TestKnownAndValue(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if p := Known(x); p != nil {
			t.Errorf("Known(%g) = %g, want nil", x, *p)
		}
	}
	for _, x := range []float64{0, -1, math.MaxFloat64} {
		if p := Known(x); p == nil || Value(p) != x {
			t.Errorf("Known(%g) = %v", x, p)
		}
	}
	if x := Value(nil); !math.IsNaN(x) {
		t.Errorf("Value(nil) = %g, want NaN", x)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:         "",
		" {\"a\":1} \n":   "",
		``:                "no content",
		`{"a":1`:          "unexpected EOF",
		`{"a":1,"b":2}`:   `unknown field "b"`,
		`{"a":1}{"a":1}`:  "more after the end",
		`{"a":1} garbage`: "more after the end",
	} {
		var v struct {
			A int `json:"a"`
		}
		err := Decode(strings.NewReader(text), &v)
		if want == "" && (err != nil || v.A != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Decode(%q) = %v, a = %d, want %q", text, err, v.A, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for text, want := range map[string]string{`{"format":"x/y","z":1}`: "x/y", `{"z":1}`: "", `[1]`: "", `{"format":"x`: "", `0,1`: "", `{"format":7}`: "", "{\"format\":\"x/y\"}\n[1,2": "x/y"} {
		if got := Format([]byte(text)); got != want {
			t.Errorf("Format(%s) = %q, want %q", text, got, want)
		}
	}
}
