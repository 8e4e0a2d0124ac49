// Package jsonfile holds what the readers and writers of all our JSON files agree upon: how a
// value that is not known looks, and that nothing is read which is not understood.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
)

// Known points to x, or is nil if x was not measured (NaN) or came out
// infinite: JSON has neither, so such values are left out, or null in lists.
func Known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Value is what p points to, NaN for nil.
func Value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// Decode decodes the one JSON value of r into v. It refuses keys that v does
// not have, which would be misspelt or of another tool, and anything after the value.
func Decode(r io.Reader, v any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if err == io.EOF {
			return fmt.Errorf("no content")
		}
		return plain(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("not a whole JSON file: more after the end of the value")
	}
	return nil
}

// Unmarshal is json.Unmarshal, with errors that speak of the file and not of types in Go.
func Unmarshal(data []byte, v any) error { return plain(json.Unmarshal(data, v)) }

// plain says of a value of the wrong kind what it is, what it should be, and where; and of NaN, which Python writes, what JSON has.
func plain(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && (strings.Contains(err.Error(), "'N' looking") || strings.Contains(err.Error(), "'I' looking")) {
		return fmt.Errorf("%w (byte %d): JSON has no NaN and no Infinity: write null", err, syntax.Offset)
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Type == nil {
		return err
	}
	where := "the value"
	if wrong.Field != "" {
		where = fmt.Sprintf("%q", wrong.Field)
	}
	return fmt.Errorf("%s is %s: want %s (byte %d)", where, article(wrong.Value), wanted(wrong.Type), wrong.Offset)
}

// article is a kind of JSON value as encoding/json calls it, with its article: "number 1.5" is one that does not fit.
func article(kind string) string {
	switch {
	case kind == "array" || kind == "object":
		return "an " + kind
	case strings.HasPrefix(kind, "number "):
		return "the " + kind
	}
	return "a " + kind
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number" // in the range of its type, which no reasonable value leaves
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

// Format is the format that the first value of a file names, "" if it names none or is no
// JSON object. Some files are lines of values.
func Format(data []byte) string {
	var head struct {
		Format string `json:"format"`
	}
	if json.NewDecoder(bytes.NewReader(data)).Decode(&head) != nil {
		return ""
	}
	return head.Format
}
