package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// List tells of the labs of a directory, by name: those that are up, and dead
// ones of which something is left.
func List(s *Settings) ([]Status, error) {
	entries, err := os.ReadDir(s.dir(""))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("netlab: list: %w", err)
	}
	var all []Status
	for _, e := range entries {
		dir := s.dir(e.Name())
		st, err := readState(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // starting, or gone
		}
		if err != nil {
			return nil, err
		}
		one := Status{
			Name: e.Name(), Hosts: len(st.Machines) - 1, PID: st.PID,
			Up: locked(filepath.Join(dir, lockFile)), Busy: locked(filepath.Join(dir, jobLock)),
			Procs: len(st.processes()),
		}
		if info, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
			one.Since = info.ModTime()
		}
		all = append(all, one)
	}
	return all, nil
}

// locked tells whether a process holds the lock file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
