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
		`{"a":1,"z":2}`:   `unknown field "z"`,
		`{"a":1}{"a":1}`:  "more after the end",
		`{"a":1} garbage`: "more after the end",
		`[1]`:             "the value is an array: want an object (byte 1)",
		`{"a":"x"}`:       `"a" is a string: want a whole number (byte 8)`,
		`{"a":1.5}`:       `"a" is the number 1.5: want a whole number`,
		`{"b":{"c":1}}`:   `"b.c" is a number: want an array`,
		`{"d":[]}`:        `"d" is an array: want a number`,
	} {
		var v struct {
			A int `json:"a"`
			B *struct {
				C []string `json:"c"`
			} `json:"b,omitempty"`
			D *float64 `json:"d"`
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
