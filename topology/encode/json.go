package encode

import (
	"fmt"
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
