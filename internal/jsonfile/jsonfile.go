// Package jsonfile holds what the readers and writers of all our JSON files agree upon: how a
// value that is not known looks, and that nothing is read which is not understood.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
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
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("not a whole JSON file: more after the end of the value")
	}
	return nil
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
