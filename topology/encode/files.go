package encode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// maxHosts bounds the sizes that a file may claim, so that a few damaged
// bytes cannot make a reader allocate without end.
const maxHosts = 1 << 20

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

// naming puts the name of a format before an error, which all that this package returns have. That of a part has its own already.
func naming(format string, err *error) {
	const prefix = "encode: "
	if *err != nil && !strings.HasPrefix((*err).Error(), prefix) {
		*err = fmt.Errorf(prefix+"%s: %w", format, *err)
	}
}

// byteOrderMark is what spreadsheets and editors of Windows write before UTF-8.
const byteOrderMark = "\ufeff"

// PlainText is the content of a file as all readers take it: UTF-8 without the byte order mark, with lines that end in "\n", those of old
// Macs, which end in "\r", too. Text that is no UTF-8 is taken for what Windows writes for Latin-1, in which any bytes are text. UTF-16, of
// which many bytes are 0, is refused, and so is what has many control characters: a ninth of the bytes of compressed data are some.
func PlainText(data []byte) ([]byte, error) {
	const many, someControls = 0.25, 0.05
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, errors.New("the file is in UTF-16: save it as UTF-8")
	case float64(bytes.Count(data, []byte{0})) > many*float64(len(data)):
		return nil, errors.New("the file is no text: it has many bytes of 0; if it is in UTF-16, save it as UTF-8")
	case float64(controls(data)) > someControls*float64(len(data)):
		return nil, errors.New("the file is no text: it is binary or compressed")
	}
	data = withNewlines(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	if utf8.Valid(data) {
		return data, nil
	}
	return charmap.Windows1252.NewDecoder().Bytes(data)
}

// controls counts the control characters that text does not have: all but tabs, ends of lines and pages, the escape of colours, and
// the end of a file of DOS.
func controls(data []byte) (count int) {
	for _, c := range data {
		isText := c >= ' ' && c != 0x7f || '\t' <= c && c <= '\r' || c == 0x1b || c == 0x1a
		if !isText {
			count++
		}
	}
	return count
}

// withNewlines is a text of which all lines end in "\n".
func withNewlines(data []byte) []byte {
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// maxFile bounds the size in bytes of most files that are read whole.
const maxFile = 256 << 20

// readAtMost reads the plain text of a file, and refuses more than some bytes.
func readAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > most:
		return nil, fmt.Errorf("more than %d MiB", most>>20)
	}
	return PlainText(text)
}

// maxLine bounds a line of a text in bytes.
const maxLine = 4 << 20

// readLines reads a file whose lines end.
func readLines(r io.Reader) ([]byte, error) {
	var data []byte
	line, from := 1, 0
	for buffer := make([]byte, 64<<10); ; {
		n, err := r.Read(buffer)
		data = append(data, buffer[:n]...)
		for i := len(data) - n; i < len(data); i++ {
			if data[i] == '\n' || data[i] == '\r' {
				line, from = line+1, i+1
			}
		}
		switch {
		case len(data)-from > maxLine:
			return nil, fmt.Errorf("line %d: longer than %d bytes", line, maxLine)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// eachLine calls read with each line of a text, whose number is the place of its errors, up to the first error.
func (f *firstError) eachLine(r io.Reader, read func(line string)) {
	text, err := readLines(r)
	if err == nil {
		text, err = PlainText(text)
	}
	f.check(err)
	number := 0
	for line := range bytes.Lines(text) {
		if f.err != nil {
			return
		}
		number++
		f.place = fmt.Sprintf("line %d: ", number)
		read(string(line))
	}
	f.place = ""
}
