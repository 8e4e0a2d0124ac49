package netlab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Exec becomes args on the named host of the lab in dir. It returns only if
// that fails.
func Exec(dir, host string, args []string) error {
	st, err := readState(dir)
	if err != nil {
		return err
	}
	m, err := st.machine(host)
	if err != nil {
		return err
	}
	// The thread that calls exec becomes the process.
	runtime.LockOSThread()
	if err := m.enter(dir); err != nil {
		return fmt.Errorf("netlab: host %s: %w", host, err)
	}
	if len(st.CPUs) > 0 {
		var set unix.CPUSet
		for _, cpu := range st.CPUs {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("netlab: host %s: affinity: %w", host, err)
		}
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("netlab: host %s: %w", host, err)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TMPDIR=") })
	env = append(env, "TMPDIR="+filepath.Join(dir, tempDir))
	return fmt.Errorf("netlab: host %s: %s: %w", host, path, unix.Exec(path, args, env))
}

// Agent does what ssh would do for a launcher: it runs a command line on a
// host. args are options, which are ignored, the host, and the words of the
// command, which a shell gets to see.
func Agent(dir string, args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	if len(args) < 2 {
		return fmt.Errorf("netlab: agent: want a host and a command")
	}
	return Exec(dir, args[0], []string{"/bin/sh", "-c", strings.Join(args[1:], " ")})
}

// enter moves the calling thread, which must be locked, to the machine of the lab in dir. Its
// view of the file system shows the machine's devices, and knows all names; and it is
// another machine than the rest of the lab to those who ask for the boot id: our waits, which
// yield where ranks share a CPU, and UCX.
func (m *Machine) enter(dir string) error {
	for _, ns := range []struct {
		path string
		kind int
	}{{m.Net, unix.CLONE_NEWNET}, {m.UTS, unix.CLONE_NEWUTS}, {m.IPC, unix.CLONE_NEWIPC}} {
		fd, err := unix.Open(ns.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", ns.path, err)
		}
		err = unix.Setns(fd, ns.kind)
		unix.Close(fd)
		if err != nil {
			return fmt.Errorf("setns: %w", err)
		}
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	// UCX looks for network devices in /sys/class/net.
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("mount sysfs: %w", err)
	}
	for _, f := range []struct{ file, over string }{
		{hostsFile, "/etc/hosts"},
		{bootFile(m.Name), "/proc/sys/kernel/random/boot_id"},
	} {
		if err := unix.Mount(filepath.Join(dir, f.file), f.over, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", f.over, err)
		}
	}
	return nil
}
