package netlab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// permitted tells at once the usual reasons why a lab cannot be made, nil if
// there are none of them.
func permitted() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("not root: %w", ErrUnavailable)
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/net/tun: %w: %w", err, ErrUnavailable)
	}
	return unix.Close(fd)
}

// Available tells why a lab cannot be made here, nil if it can. Root in a
// container has seldom all rights, nor every kernel all parts: it makes a host,
// wires it, enters it, and lets it go again.
func Available() error {
	if err := permitted(); err != nil {
		return fmt.Errorf("netlab: %w", err)
	}
	if err := tryHost(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrUnavailable)
	}
	return nil
}

func tryHost() error {
	const trial = `{"format":"topocast/netlab","version":1,"spec":"star:2"}`
	c, err := DecodeCluster(strings.NewReader(trial), "", "trial")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "netlab")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := Machine{Name: c.Graph.Name(0)}
	for _, name := range []string{hostsFile, bootFile(m.Name)} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			return err
		}
	}
	ctl, err := newControl()
	if err != nil {
		return err
	}
	defer ctl.close()
	h, err := newHost(c, 0, ctl)
	if err != nil {
		return err
	}
	defer h.close()
	path := func(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
	m.Net, m.UTS, m.IPC = path(h.net), path(h.uts), path(h.ipc)
	if _, err := cookie(m.Net); err != nil {
		return err
	}
	return onOwnThread(func() error { return m.enter(dir) })
}
