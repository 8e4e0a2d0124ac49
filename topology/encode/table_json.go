package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// A table may stand in JSON, as a list of lists or as a list of objects with the same keys. Keys beside it may name the unit, and a list of
// strings the hosts. The JSON is read token by token, so that each row knows its line in the file.

// jsonComma separates the cells of a row that comes from JSON: no text there has it.
const jsonComma = '\x1f'

// A jsonTable is what a JSON file holds of a table.
type jsonTable struct {
	notes []textLine // keys, and values that are neither tables nor names
	names *textLine  // the last list of strings
	rows  []textLine
	count int // tables

	d    *json.Decoder
	data []byte
	at   int // bytes of which the lines are counted
	line int // of the last token
}

// notInJSON finds what Python writes for numbers that JSON does not have.
var notInJSON = regexp.MustCompile(`([:\[,]\s*)-?(?:NaN|Infinity)\b`)

// asJSON returns an object or a list of JSON; nil if a text is neither. NaN becomes null, and lines of values become a list.
func asJSON(data []byte) []byte {
	text := bytes.TrimSpace(data)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	if json.Valid(data) {
		return data
	}
	data = notInJSON.ReplaceAll(data, []byte("${1}null"))
	list := slices.Concat([]byte("["), bytes.ReplaceAll(bytes.TrimRight(data, "\n"), []byte("\n"), []byte(",\n")), []byte("]"))
	for _, text := range [][]byte{data, list} {
		if json.Valid(text) {
			return text
		}
	}
	return nil
}

// readJSONTable reads the one table of a JSON file. A line of names stands above it if the file has as many names as the table has columns.
func readJSONTable(data []byte) (*jsonTable, error) {
	var head map[string]json.RawMessage
	if json.Unmarshal(data, &head) == nil && head["graph"] != nil {
		return nil, errors.New("line 1: JSON of a graph: want a table of numbers")
	}
	t := &jsonTable{d: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	t.d.UseNumber()
	t.value("")
	switch {
	case t.count == 0:
		return nil, errors.New("line 1: JSON without a table of numbers: want a list of lists, or a list of objects with the same keys")
	case t.count > 1:
		return nil, errors.New("line 1: the JSON has several tables: keep one")
	}
	if t.names != nil && strings.Count(t.names.text, string(jsonComma)) == strings.Count(t.rows[0].text, string(jsonComma)) {
		t.rows = slices.Insert(t.rows, 0, *t.names)
	}
	return t, nil
}

// next reads a token of valid JSON.
func (t *jsonTable) next() json.Token {
	token, _ := t.d.Token()
	end := int(t.d.InputOffset())
	t.line += bytes.Count(t.data[t.at:end], []byte("\n"))
	t.at = end
	return token
}

// value reads a value under its key.
func (t *jsonTable) value(key string) {
	switch token := t.next(); token {
	case json.Delim('{'):
		t.notes = append(t.notes, textLine{t.line, key})
		for t.d.More() {
			t.value(cellOf(t.next()))
		}
		t.next()
	case json.Delim('['):
		t.notes = append(t.notes, textLine{t.line, key})
		t.list()
	default:
		t.notes = append(t.notes, textLine{t.line, key + ": " + cellOf(token)})
	}
}

// list reads a table, or names. Of a list of objects the keys of the first one are the names of the columns.
func (t *jsonTable) list() {
	var names, header []string
	var rows []textLine
	isTable := true
	line := t.line
	for t.d.More() {
		token := t.next()
		row := textLine{number: t.line}
		switch token {
		case json.Delim('['):
			_, cells, isFlat := t.members(false)
			row.text = strings.Join(cells, string(jsonComma))
			rows, isTable = append(rows, row), isTable && isFlat && header == nil
		case json.Delim('{'):
			keys, cells, isFlat := t.members(true)
			if len(rows) == 0 {
				header = keys
				rows = append(rows, textLine{t.line, strings.Join(keys, string(jsonComma))})
			}
			row.text = strings.Join(byKeys(header, keys, cells), string(jsonComma))
			rows, isTable = append(rows, row), isTable && isFlat && len(header) > 0
		default:
			names = append(names, cellOf(token))
			_, isText := token.(string)
			isTable = isTable && isText
		}
	}
	t.next()
	switch {
	case isTable && len(rows) > 0 && names == nil:
		t.rows = append(t.rows, rows...)
		t.count++
	case isTable && len(names) > 0 && rows == nil:
		t.names = &textLine{line, strings.Join(names, string(jsonComma))}
	}
}

// members reads the rest of a list or an object: its keys, and its values, which isFlat tells to be neither lists nor objects.
func (t *jsonTable) members(isObject bool) (keys, cells []string, isFlat bool) {
	isFlat = true
	for t.d.More() {
		if isObject {
			keys = append(keys, cellOf(t.next()))
		}
		token := t.next()
		cells = append(cells, cellOf(token))
		if _, isNested := token.(json.Delim); isNested {
			isFlat = false
			for depth := 1; depth > 0; {
				switch t.next() {
				case json.Delim('{'), json.Delim('['):
					depth++
				case json.Delim('}'), json.Delim(']'):
					depth--
				}
			}
		}
	}
	t.next()
	return keys, cells, isFlat
}

// byKeys puts the values of an object under the keys of the first one. Those that it does not have are not measured.
func byKeys(header, keys, cells []string) []string {
	row := make([]string, len(header))
	for i, key := range header {
		if at := slices.Index(keys, key); at >= 0 {
			row[i] = cells[at]
		}
	}
	return row
}

// cellOf is a token as a cell of text, on one line.
func cellOf(token json.Token) string {
	switch x := token.(type) {
	case string:
		return strings.NewReplacer(string(jsonComma), " ", "\n", " ", "\r", " ").Replace(x)
	case json.Number:
		return x.String()
	}
	return "" // null, and what is no number
}
