package netlab

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Processes outlive a lab whose fabric was killed, and those of a job may have cleared their environments and left their
// parents. There are two ways to find them:
//
//   - A process of a lab is in one of its networks, wherever it comes from. So Down and Up find what a dead lab has left.
//   - A process of a job descends from the job's supervisor, which adopts orphans. So a job takes its own processes along, and no
//     others of the lab.

// killAll ends the processes of the lab.
func (s *state) killAll() { kill(s.processes) }

// kill ends the processes that find lists, until it lists none: a process may
// start another one meanwhile.
func kill(find func() []int) {
	for range 100 {
		pids := find()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// processes lists the processes in the networks of the lab, those that have
// ended aside. Where the fabric is gone, the number of a network may have been
// given out again, but not its cookie.
func (s *state) processes() []int {
	var pids []int
	for _, pid := range allProcesses() {
		if pid == os.Getpid() || pid == s.PID {
			continue
		}
		proc := filepath.Join("/proc", strconv.Itoa(pid))
		var st unix.Stat_t
		if unix.Stat(proc+"/ns/net", &st) != nil {
			continue
		}
		m := slices.IndexFunc(s.Machines, func(m Machine) bool { return m.Inode == st.Ino })
		if m < 0 {
			continue
		}
		if c, err := cookie(proc + "/ns/net"); err == nil && c == s.Machines[m].Cookie {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cookie is a number of a network that no other one has had since the machine started. Linux has it from 5.14 on.
func cookie(path string) (c uint64, err error) {
	err = (&Machine{Net: path}).inside(func() error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		c, err = unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
		return os.NewSyscallError("cookie of a network", err)
	})
	return c, err
}

func allProcesses() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants lists the living processes below the given one. Orphans count
// where it is a subreaper.
func descendants(root int) []int {
	children := map[int][]int{}
	dead := map[int]bool{}
	for _, pid := range allProcesses() {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue
		}
		// The name, in parentheses, may hold anything; state and parent follow.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(string(fields[1]))
		if err != nil {
			continue
		}
		children[parent] = append(children[parent], pid)
		dead[pid] = fields[0][0] == 'Z' || fields[0][0] == 'X'
	}
	var living []int
	for open := children[root]; len(open) > 0; {
		pid := open[0]
		open = append(open[1:], children[pid]...)
		if !dead[pid] {
			living = append(living, pid)
		}
	}
	return living
}
