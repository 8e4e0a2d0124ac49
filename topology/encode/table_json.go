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
const jsonComma = "\x1f"

// A jsonTable is what a JSON file holds of a table.
type jsonTable struct {
	notes []textLine   // keys, and values that are neither tables nor names
	names *jsonPart    // the last list of strings
	rows  [][]textLine // of each table

	d    *json.Decoder
	data []byte
	at   int // bytes of which the lines are counted
	line int // of the last token
}

// A jsonPart is an object or a list.
type jsonPart struct {
	line     int
	isObject bool
	keys     []string
	cells    []string // the values; "" of parts
	texts    int      // strings among them
	parts    []*jsonPart
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
func readJSONTable(data []byte) (rows, notes []textLine, err error) {
	t := &jsonTable{d: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	t.d.UseNumber()
	root := t.part(t.next(), false)
	switch {
	case slices.Contains(root.keys, "graph"):
		return nil, nil, errors.New("line 1: JSON of a graph: want a table of numbers")
	case len(t.rows) == 0:
		return nil, nil, errors.New("line 1: JSON without a table of numbers: want a list of lists, or a list of objects with the same keys")
	case len(t.rows) > 1:
		return nil, nil, errors.New("line 1: the JSON has several tables: keep one")
	}
	rows = t.rows[0]
	if t.names != nil && len(t.names.cells) == 1+strings.Count(rows[0].text, jsonComma) {
		rows = slices.Insert(rows, 0, textLine{t.names.line, strings.Join(t.names.cells, jsonComma)})
	}
	return rows, t.notes, nil
}

// next reads a token of valid JSON.
func (t *jsonTable) next() json.Token {
	token, _ := t.d.Token()
	end := int(t.d.InputOffset())
	t.line += bytes.Count(t.data[t.at:end], []byte("\n"))
	t.at = end
	return token
}

// part reads an object or a list behind its bracket. What is not in a list makes notes, and lists there may be tables or names.
func (t *jsonTable) part(open json.Token, isInList bool) *jsonPart {
	p := &jsonPart{line: t.line, isObject: open == json.Delim('{')}
	for t.d.More() {
		key := ""
		if p.isObject {
			key = cellOf(t.next())
			p.keys = append(p.keys, key)
		}
		token := t.next()
		cell, line := cellOf(token), t.line
		p.cells = append(p.cells, cell)
		if _, isText := token.(string); isText {
			p.texts++
		}
		if _, isPart := token.(json.Delim); isPart {
			p.parts = append(p.parts, t.part(token, isInList || !p.isObject))
		} else {
			key += ": " + cell
		}
		if p.isObject && !isInList {
			t.notes = append(t.notes, textLine{line, key})
		}
	}
	t.next()
	switch {
	case p.isObject:
	case isInList:
		p.cells = []string{strings.Join(p.cells, jsonComma)} // takes less memory
	default:
		t.take(p)
	}
	return p
}

// take takes a list for a table, if all in it are lists, or objects, without others in them, or for names. Of objects the keys of the first
// one are the names of the columns.
func (t *jsonTable) take(p *jsonPart) {
	isTable := p.parts != nil && len(p.parts) == len(p.cells)
	for _, row := range p.parts {
		isTable = isTable && row.parts == nil && row.isObject == p.parts[0].isObject
	}
	switch {
	case p.texts > 0 && p.texts == len(p.cells):
		t.names = p
		return
	case !isTable || p.parts[0].isObject && p.parts[0].keys == nil:
		return
	}
	var rows []textLine
	keys := p.parts[0].keys
	if keys != nil {
		rows = append(rows, textLine{p.parts[0].line, strings.Join(keys, jsonComma)})
	}
	for _, row := range p.parts {
		cells := row.cells
		if keys != nil {
			cells = make([]string, len(keys)) // empty if the object does not have the key
			for i, key := range row.keys {
				if at := slices.Index(keys, key); at >= 0 {
					cells[at] = row.cells[i]
				}
			}
		}
		rows = append(rows, textLine{row.line, strings.Join(cells, jsonComma)})
	}
	t.rows = append(t.rows, rows)
}

// cellOf is a token as a cell of text, on one line.
func cellOf(token json.Token) string {
	switch x := token.(type) {
	case string:
		return strings.NewReplacer(jsonComma, " ", "\n", " ", "\r", " ").Replace(x)
	case json.Number:
		return x.String()
	}
	return "" // null, and what is no number
}
