//go:build !windows

package outfile

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// newPending opens a temporary file beside path, which is to replace it.
func newPending(path string) (*renameio.PendingFile, error) {
	return renameio.NewPendingFile(path,
		renameio.WithTempDir(filepath.Dir(path)), // not $TMPDIR: room there says nothing of room here
		renameio.WithPermissions(mode), renameio.WithExistingPermissions())
}

// writable tells whether this process may write what path leads to.
func writable(path string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}
