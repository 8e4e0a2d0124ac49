// Package outfile writes output files: whole or not at all where the target is
// a regular file, straight into it where it is none. [Check] tells beforehand
// whether [Write] can succeed.
//
// Links are followed: what a link points to is written, and the link stays.
// Devices, pipes and open descriptors (/dev/stdout) are opened and written
// into; nothing is put in their place.
package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mode is what a new file gets, less the umask.
const mode fs.FileMode = 0o644

// maxLinks bounds the links that are followed, as the kernel does.
const maxLinks = 40

// A target is where the bytes for a path go.
type target struct {
	path    string // of a regular file or of none: without links
	inPlace bool   // no regular file, or an open one: write into it
}

// Write calls write once, for the content of the file at path. A regular file
// is replaced when all of it is on the disk, keeping its mode; if anything
// fails, what was there before is untouched. What is no regular file is written
// into as it is; a pipe blocks until it has a reader. A file that may not be written is refused even where its
// folder would allow to replace it.
//
// The errors of the file system are [*fs.PathError] or [*os.LinkError] in the
// chain and name path; those of write are returned as they are.
func Write(path string, write func(io.Writer) error) error {
	t, err := resolve(path)
	if err != nil {
		return named(path, err)
	}
	if t.inPlace {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return named(path, err)
		}
		if err := write(&writer{f, path}); err != nil {
			f.Close()
			return err
		}
		return named(path, f.Close())
	}
	f, err := newPending(t.path)
	if err != nil {
		return named(path, err)
	}
	defer f.Cleanup() // does nothing once the file is in place
	if err := write(&writer{f, path}); err != nil {
		return err
	}
	return named(path, f.CloseAtomicallyReplace())
}

// probe is as much as Check writes: a full disk may still have room for an
// empty file.
const probe = 4096 // B

// Check returns the error that Write would return now, as far as that can be
// told without a change: whether a file may be made in the folder and hold
// some bytes, or the device or pipe may be written. A pipe is not opened: its
// reader would take the closing for the end.
func Check(path string) error {
	t, err := resolve(path)
	if err != nil || t.inPlace {
		return named(path, err)
	}
	f, err := newPending(t.path)
	if err != nil {
		return named(path, err)
	}
	defer f.Cleanup()
	if _, err := f.Write(make([]byte, probe)); err != nil {
		return named(path, err)
	}
	return named(path, f.Sync())
}

// resolve follows the links of path, also to a file that is not there yet, and
// refuses what cannot be written.
func resolve(path string) (target, error) {
	if path == "" {
		return target{}, &fs.PathError{Op: "open", Path: path, Err: errors.New("the file has no name")}
	}
	at := path
	for range maxLinks {
		// The folder first: ".." in a link starts from where the link really is.
		// Not filepath.Dir, which would take "x/.." away where x is a link.
		folder, base := filepath.Split(at)
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return target{}, err
		}
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return target{}, &fs.PathError{Op: "open", Path: at, Err: errors.New("is a folder")}
		case err == nil:
			if err := writable(at); err != nil {
				return target{}, err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return target{}, err
		}
		// The names below /proc/self/fd are files that somebody has open: a new
		// file in their place would not reach him.
		if err == nil && (!info.Mode().IsRegular() || strings.HasPrefix(folder, "/proc/")) {
			return target{at, true}, nil
		}
		at = filepath.Join(folder, base)
		link, err := os.Readlink(at)
		if err != nil { // not a link
			return target{at, false}, nil
		}
		if !filepath.IsAbs(link) {
			link = folder + string(filepath.Separator) + link
		}
		at = link
	}
	return target{}, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("more than %d links", maxLinks)}
}

// A writer names the path in its errors, not the temporary file.
type writer struct {
	io.Writer
	path string
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	return n, named(w.path, err)
}

// named is err with path as the file that it is about.
func named(path string, err error) error {
	var inPath *fs.PathError
	var inLink *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inPath):
		err = inPath.Err
	case errors.As(err, &inLink):
		err = inLink.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
