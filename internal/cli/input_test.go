package cli

import (
	"io"
	"strings"
	"testing"
)

// TestReadFileSaysWhatIsNoFile: an empty name, as an unset variable of a shell gives, and a directory are named, with the remedy.
func TestReadFileSaysWhatIsNoFile(t *testing.T) {
	for path, want := range map[string]string{
		"":  "the name of a file is empty: want a file, or - for standard input",
		".": ".: is a directory: want a file",
	} {
		if _, err := ReadFile(path, io.ReadAll); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("ReadFile(%q) = %v, want %q", path, err, want)
		}
	}
}
