package encode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
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

// PlainText is the content of a file without the byte order mark. It refuses UTF-16, of which many bytes are 0.
func PlainText(data []byte) ([]byte, error) {
	const many = 0.25
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, errors.New("the file is in UTF-16: save it as UTF-8")
	case float64(bytes.Count(data, []byte{0})) > many*float64(len(data)):
		return nil, errors.New("the file is no text: it has many bytes of 0; if it is in UTF-16, save it as UTF-8")
	}
	return bytes.TrimPrefix(data, []byte(byteOrderMark)), nil
}

// readAtMost reads all but the byte order mark, and refuses more than some bytes.
func readAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("more than %d MiB", most>>20)
	}
	return bytes.TrimPrefix(text, []byte(byteOrderMark)), err
}

// eachLine calls read with each line of a text, whose errors get the number of the line. A line has 1 MiB at most.
func eachLine(r io.Reader, read func(line string) error) error {
	const longest = 1 << 20
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	number := 1
	for ; lines.Scan(); number++ {
		if err := read(strings.TrimPrefix(lines.Text(), byteOrderMark)); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("longer than %d MiB", longest>>20)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}
