package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A pending file is a temporary one that is to replace another, for which
// renameio has nothing on Windows.
type pending struct {
	*os.File
	path string
}

func newPending(path string) (*pending, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return nil, err
	}
	return &pending{f, path}, nil
}

// CloseAtomicallyReplace puts the file in place.
func (p *pending) CloseAtomicallyReplace() error {
	if err := p.Sync(); err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	return os.Rename(p.Name(), p.path)
}

// Cleanup removes the file unless it is in place.
func (p *pending) Cleanup() error {
	p.Close()
	return os.Remove(p.Name())
}

// writable tells whether the file at path may be written: whether it has the
// read-only attribute.
func writable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return err
}
