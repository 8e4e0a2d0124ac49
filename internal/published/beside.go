package published

import (
	"os"
	"path/filepath"
)

// Beside is the directory ../shared/data, seen from the module of a test that is
// running, and whether there is one. It holds more published and simulated latencies, which
// may not enter the repository: most state no licence, or one of another kind.
func Beside() (dir string, ok bool) {
	at, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(at) == at {
			return "", false
		}
		at = filepath.Dir(at)
	}
	dir = filepath.Join(at, "..", "shared", "data")
	_, err = os.Stat(dir)
	return dir, err == nil
}
