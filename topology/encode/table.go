package encode

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
)

// A table of numbers comes in any text. This file cuts the text into lines of cells and tells lines of numbers, called rows, from the
// text around them. table_shape.go then finds out what the rows hold.

// maxColumns bounds the hosts of a table. Memory grows with the lines read: a hostile file costs no more than a small multiple of its own size.
const maxColumns = 1 << 15

// ownComment begins the first line of the files that WriteMatrix writes.
const ownComment = "# topocast latencies"

// A table is a text, cut into lines.
type table struct {
	lines   []tableLine // without comments and borders
	notes   []textLine  // comments, and what the first lines hold beside numbers: these may name a unit
	comma   byte        // that separates cells; ' ' stands for any blanks
	borders int         // lines that Markdown and consoles draw
	end     int         // the line after the last
	isOwn   bool        // WriteMatrix has written it
	market  string      // the first line of a MatrixMarket file

	// Of the first line that names the columns of a list of pairs.
	ends     []int // those of the two hosts and of the latencies; nil: there is no such line
	endsLine int   // its place in lines

	broken error // the first quote that is not closed on its line, or has text behind it
}

// A tableLine is a line of a table. Its cells are cut again when they are wanted: most memory is in them.
type tableLine struct {
	textLine
	width     int       // in cells; 0: the line is blank
	numbers   int       // among them
	head      tableCell // the first cell
	isRow     bool
	endsEmpty bool // the last cell holds nothing
}

// A textLine is a line of a text, with its number in the file.
type textLine struct {
	number int
	text   string
}

// A tableCell is a number, a word, or a sign for no answer.
type tableCell struct {
	text   string // of a number without its unit and its spread
	number bool
	absent bool
	unit   Unit // of a number that carries its own; 0: none
}

// isWord tells whether a cell is neither a number nor a sign for no answer.
func (c tableCell) isWord() bool { return !c.number && !c.absent }

// whole returns the number of a host, or -1.
func (c tableCell) whole() int {
	x, err := strconv.Atoi(c.text)
	if err != nil || c.unit != 0 {
		return -1
	}
	return max(x, -1)
}

// noAnswer are cells that say that nothing was measured, or that nothing came back.
var noAnswer = []string{
	"", "-", "--", "–", "—", ".", "nan", "-nan", "na", "n/a", "n.a.", "#n/a", "#div/0!", "null", "none", "-1", "-1.0", "x", "inf", "+inf", "∞", "?", "*",
	"timeout", "unreachable", "fail", "failed", "err", "error", "lost", "down", "self", "local",
}

func isMissing(text string) bool {
	return len(text) <= len("unreachable") && slices.Contains(noAnswer, strings.ToLower(text))
}

var (
	// border matches lines of Markdown and of consoles that separate a header from its rows.
	border = regexp.MustCompile(`^[\s|+:=-]*(-{3}|={3}|-{2,}:?\s*\|)[\s|+:=-]*$`)

	// inParentheses matches a pair of hosts as programs print tuples.
	inParentheses = regexp.MustCompile(`^\s*\(([^(),]+),([^(),]+)\)[\s:=,;]*`)

	// arrow matches what stands between the two hosts of a pair, and afterPair before the number of a pair that has one.
	arrow     = regexp.MustCompile(`\s*(?:<?[-=]+>|[→↔])\s*`)
	afterPair = regexp.MustCompile(`\s*[:=]\s+`)
	ofTwo     = regexp.MustCompile(`(?i)\b(rank|host|node|core|cpu|gpu|process) (\d+)\b`) // a host by a word and its number

	// withUnit matches a number with its unit, or with its spread: 12±1, 12(1).
	withUnit = regexp.MustCompile(`^([0-9][0-9.,eE+-]*)\s*(?:(?:±|\+/-)\s*[0-9.,]+|\([0-9.,]+\))?\s*([a-zA-Zµμ]*)$`)
)

// newTableCell reads a cell. Words may stand in quotes, in Markdown's emphasis or before a colon.
func newTableCell(text string) tableCell {
	text = strings.TrimSpace(text)
	switch {
	case quantity.IsPlain(text):
		return tableCell{text: text, number: true}
	case isMissing(text):
		return tableCell{text: text, absent: true}
	case isNumber(text):
		return tableCell{text: text, number: true}
	}
	if m := withUnit.FindStringSubmatch(text); m != nil && isNumber(m[1]) {
		if m[2] == "" {
			return tableCell{text: m[1], number: true}
		}
		if unit, err := ParseUnit(m[2]); err == nil {
			return tableCell{text: m[1], number: true, unit: unit}
		}
	}
	if bare := strings.TrimSuffix(strings.Trim(text, "*`\""), ":"); bare != text {
		return newTableCell(bare)
	}
	return tableCell{text: text}
}

// isNumber tells whether a text is a number, with a decimal point or a decimal comma.
func isNumber(text string) bool {
	if text[0] > '9' { // most names; an error of ParseFloat costs much
		return false
	}
	if i := strings.IndexByte(text, ','); i > 0 {
		text = text[:i] + "." + text[i+1:]
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.ContainsAny(text, "0123456789")
}

// readTable reads a file and cuts it into lines.
func readTable(r io.Reader) (*table, error) {
	data, err := readLines(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if bytes.HasPrefix(data, []byte(ownComment)) { // names are as they stand
		t := &table{isOwn: true, comma: ','}
		return t, t.cut(splitLines(string(withNewlines(data)), 1))
	}
	if data, err = PlainText(data); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if format := jsonfile.Format(data); format != "" {
		return nil, fmt.Errorf("line 1: format is %q: want a table of numbers", format)
	}
	if says := Unread(data); says != "" {
		return nil, fmt.Errorf("line 1: the file %s", says)
	}
	if called := calledMachine(data); called != "" {
		return nil, fmt.Errorf("line 1: the file is %s: want a table of numbers", called)
	}
	if text := asJSON(data); text != nil {
		rows, notes, err := readJSONTable(text)
		if err != nil {
			return nil, err
		}
		t := &table{comma: jsonComma[0], notes: notes}
		return t, t.cut(rows)
	}
	if bytes.HasPrefix(data, []byte("{")) {
		return nil, fmt.Errorf("line 1: %w", jsonfile.Unmarshal(data, new(any)))
	}
	text, err := unbracket(data)
	if err != nil {
		return nil, err
	}
	t := &table{}
	first := text[0].text
	if strings.HasPrefix(first, marketBanner) {
		t.market = first
	}
	if len(first) == len("sep=;") && strings.HasPrefix(first, "sep=") && strings.IndexByte(separators, first[4]) >= 0 {
		t.comma, text[0].text = first[4], "" // for spreadsheets
	}
	if t.comma == 0 {
		t.comma = separator(text)
	}
	return t, t.cut(text)
}

// splitLines cuts a text at the ends of its lines, of which the first one has the given number.
func splitLines(data string, number int) []textLine {
	var lines []textLine
	for text := range strings.SplitSeq(data, "\n") {
		lines = append(lines, textLine{number, text})
		number++
	}
	return lines
}

// cut fills the lines and the notes.
func (t *table) cut(text []textLine) error {
	const titles, notes, longestNote = 8, 256, 4 << 10 // rows that may hold a title, notes, bytes of one
	rows := 0
	var cells []tableCell // of one line after the other
	for _, l := range text {
		t.end = l.number
		switch start := l.text[:min(len(l.text), longestNote)]; {
		case isComment(start):
			t.notes = append(t.notes, textLine{l.number, strings.TrimLeft(start, "#% \t")})
			continue
		case border.MatchString(start):
			t.borders++
			continue
		}
		var err error
		cells, err = cutCells(cells[:0], l.text, t.comma)
		if err != nil && t.broken == nil {
			t.broken = fmt.Errorf("line %d: a quote is not closed on its line, or text stands behind it", l.number)
		}
		if len(cells) > maxColumns+2 { // names, and a separator at the end
			return fmt.Errorf("line %d: %d columns: want at most %d", l.number, len(cells), maxColumns)
		}
		line := tableLine{textLine: l, width: len(cells), isRow: isRow(cells) || t.isPairRow(cells)}
		if line.isRow {
			rows++
		} else if t.ends == nil && t.comma != ' ' {
			t.ends, t.endsLine = endColumns(cells), len(t.lines)
		}
		if len(cells) > 0 {
			line.head, line.endsEmpty = cells[0], cells[len(cells)-1].text == ""
		}
		var words []string
		for _, c := range cells {
			if c.number {
				line.numbers++
			} else if c.isWord() && (!line.isRow || rows <= titles) {
				words = append(words, c.text)
			}
		}
		if note := strings.Join(words, " "); note != "" && len(t.notes) < notes {
			t.notes = append(t.notes, textLine{l.number, note[:min(len(note), longestNote)]})
		}
		t.lines = append(t.lines, line)
	}
	return nil
}

// isComment tells whether a line is a comment, those of MATLAB and MatrixMarket among them. #N/A is what a spreadsheet writes for no value.
func isComment(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return strings.HasPrefix(line, "%") || strings.HasPrefix(line, "#") && !strings.HasPrefix(strings.ToUpper(line[:min(4, len(line))]), "#N/A")
}

// separators are what separates cells. Of two that make the same numbers the first counts.
const separators = "|;\t, "

// separator is the one that makes the most numbers of the first lines: in rows, and then at all.
func separator(text []textLine) byte {
	const enough = 64 << 10 // bytes
	var lines []textLine
	size := 0
	for _, l := range text {
		if size < enough && !isComment(l.text) && !border.MatchString(l.text) {
			lines = append(lines, l)
			size += len(l.text)
		}
	}
	best, most := byte(' '), []int{-1}
	for _, comma := range []byte(separators) {
		if !slices.ContainsFunc(lines, func(l textLine) bool { return strings.IndexByte(l.text, comma) >= 0 }) {
			continue
		}
		t, numbers := &table{comma: comma}, []int{0, 0}
		_ = t.cut(lines) // of lines that are too long, those before count
		for _, l := range t.lines {
			if comma == ',' && strings.Count(l.text, ";") > strings.Count(l.text, ",") {
				continue // commas within cells
			}
			numbers[1] += l.numbers
			if l.isRow {
				numbers[0] += l.numbers
			}
		}
		if slices.Compare(numbers, most) > 0 {
			best, most = comma, numbers
		}
	}
	return best
}

// separatorName says the separator in errors.
func (t *table) separatorName() string {
	if name := map[byte]string{';': "semicolons", '\t': "tabs", ' ': "blanks", ',': "commas", jsonComma[0]: "JSON's commas"}[t.comma]; name != "" {
		return name
	}
	return fmt.Sprintf("%q", t.comma)
}

// cells cuts a line of the table.
func (t *table) cells(l tableLine) []tableCell {
	cells, _ := cutCells(nil, l.text, t.comma) // cut has kept the error
	return cells
}

// cutCells cuts a line, and appends its cells to an empty slice. Where blanks separate cells, a unit behind a number is of that number. A line with broken quotes is one cell.
func cutCells(cells []tableCell, line string, comma byte) ([]tableCell, error) {
	if strings.TrimSpace(line) == "" && comma != '\t' || line == "" {
		return cells, nil
	}
	if m := inParentheses.FindStringSubmatch(line); m != nil {
		line = m[1] + string(comma) + strings.TrimSpace(m[2]) + string(comma) + line[len(m[0]):]
	}
	if isOfArrow(line) {
		line = arrow.ReplaceAllLiteralString(ofTwo.ReplaceAllString(line, "$1$2"), string(comma))
		line = afterPair.ReplaceAllLiteralString(line, string(comma))
	}
	var texts iter.Seq[string]
	switch {
	case comma == '|':
		line = strings.TrimSpace(line)
		if inside, isFramed := strings.CutPrefix(line, "|"); isFramed {
			line = strings.TrimSuffix(inside, "|")
		}
		texts = strings.SplitSeq(line, "|")
	case strings.Contains(line, `"`):
		if comma == ' ' {
			line = strings.ReplaceAll(line, "\t", " ")
		}
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = rune(comma), -1, comma != '\t'
		record, err := r.Read()
		if err != nil {
			return append(cells, tableCell{text: strings.TrimSpace(line)}), err
		}
		texts = slices.Values(record)
	case comma == ' ':
		texts = strings.FieldsSeq(line)
	default:
		texts = strings.SplitSeq(line, string(comma))
	}
	for text := range texts {
		c := newTableCell(text)
		if n := len(cells); comma == ' ' && n > 0 && cells[n-1].number && cells[n-1].unit == 0 && c.isWord() {
			if unit, err := ParseUnit(c.text); err == nil { // "0.11 ms"
				cells[n-1].unit = unit
				continue
			}
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// isOfArrow tells whether an arrow stands in a line. Few lines need the slow search.
func isOfArrow(line string) bool {
	return (strings.IndexByte(line, '>') >= 0 || strings.Contains(line, "→") || strings.Contains(line, "↔")) && arrow.MatchString(line)
}

// isRow tells whether a line is one of numbers: at most two words, which stand before all numbers.
func isRow(cells []tableCell) bool {
	words, numbers, absent := 0, 0, 0
	for i, c := range cells {
		switch {
		case c.number:
			numbers++
		case c.absent:
			absent++
		case i > 1:
			return false
		default:
			words++
		}
	}
	return numbers > 0 || words == 0 && absent > 0 || words == 1 && absent > 1 || words == 2 && absent > 0 // a pair without answer
}

// shorten makes a text of a file fit into an error.
func shorten(text string) string {
	if len(text) > 40 {
		return text[:37] + "..."
	}
	return text
}
