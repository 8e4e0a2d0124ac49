package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// A jsonTable is what a JSON file holds of a table: the rows of a matrix, or of a list of objects with the same keys.
type jsonTable struct {
	notes []string // comments: keys, and values that are neither tables nor names
	names []string // the strings of the last list of strings
	rows  [][]string
	count int // tables
}

// unwrapJSON writes the table of a JSON file as a text of rows, with a line of names if the file has as many names as the
// table has columns. Data that are no JSON stay as they were.
func unwrapJSON(data []byte) ([]byte, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !json.Valid(text) {
		return data, nil
	}
	if holdsGraph(text) {
		return nil, errors.New("line 1: JSON of a graph: want a table of numbers")
	}
	var t jsonTable
	t.read("", text)
	switch {
	case t.count == 0:
		return nil, errors.New("line 1: JSON without a table of numbers: want a list of lists, or a list of objects with the same keys")
	case t.count > 1:
		return nil, errors.New("line 1: the JSON has several tables: keep one")
	}
	var out strings.Builder
	for _, note := range t.notes {
		out.WriteString("# " + note + "\n")
	}
	if len(t.names) == len(t.rows[0]) {
		out.WriteString(strings.Join(t.names, ";") + "\n")
	}
	for _, row := range t.rows {
		out.WriteString(strings.Join(row, ";") + "\n")
	}
	return []byte(out.String()), nil
}

// holdsGraph tells whether JSON is a graph, of a platform file or as node-link.
func holdsGraph(text []byte) bool {
	if text[0] != '{' {
		return false
	}
	keys, _ := members(text)
	return slices.Contains(keys, "graph") || IsNodeLink(text)
}

// read reads a value under its key.
func (t *jsonTable) read(key string, value json.RawMessage) {
	t.notes = append(t.notes, key)
	switch value[0] {
	case '{':
		keys, values := members(value)
		for i, key := range keys {
			t.read(key, values[i])
		}
	case '[':
		t.readList(value)
	default:
		t.notes[len(t.notes)-1] = key + ": " + cellOf(value)
	}
}

// readList reads a table, or names.
func (t *jsonTable) readList(list json.RawMessage) {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items) // it is valid
	if len(items) == 0 {
		return
	}
	switch items[0][0] {
	case '[':
		t.count++
		for _, item := range items {
			var cells []json.RawMessage
			if json.Unmarshal(item, &cells) == nil {
				t.rows = append(t.rows, cellsOf(cells))
			}
		}
	case '{':
		header, values := members(items[0])
		if len(header) == 0 || slices.ContainsFunc(values, isNested) {
			return
		}
		t.count++
		t.rows = append(t.rows, header)
		for _, item := range items {
			_, values := members(item)
			t.rows = append(t.rows, cellsOf(values))
		}
	case '"':
		t.names = cellsOf(items)
	}
}

// isNested tells whether a value is an object or a list.
func isNested(value json.RawMessage) bool { return value[0] == '{' || value[0] == '[' }

// members are the keys and values of an object, in their order.
func members(object json.RawMessage) (keys []string, values []json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the bracket
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return keys, values
		}
		if name, ok := key.(string); ok {
			keys, values = append(keys, name), append(values, value)
		}
	}
	return keys, values
}

func cellsOf(values []json.RawMessage) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = cellOf(v)
	}
	return cells
}

// cellOf is a value as a cell of text, on one line.
func cellOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	return strings.NewReplacer(";", ",", "\n", " ", "\r", " ").Replace(text)
}
