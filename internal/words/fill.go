package words

import (
	"strings"
	"unicode/utf8"
)

// Fill breaks the lines of paragraphs anew, so that they have at most the given width. Lines that begin with a blank are
// tables and stay as they are.
func Fill(text string, width int) string {
	var out strings.Builder
	column := 0 // 0: at the start of a paragraph
	end := func() {
		if column > 0 {
			out.WriteByte('\n')
			column = 0
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == ' ' {
			end()
			out.WriteString(line + "\n")
			continue
		}
		for word := range strings.FieldsSeq(line) {
			switch {
			case column == 0:
			case column+1+utf8.RuneCountInString(word) > width:
				end()
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += utf8.RuneCountInString(word)
		}
	}
	end()
	return strings.TrimRight(out.String(), "\n")
}
