package netlab

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

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
// given out again: a process then has to carry the lab's mark, or its network
// the cookie, which is given out once.
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
		m := s.withNetwork(st.Ino)
		if m != nil && (s.marked(proc) || m.Cookie != 0 && cookie(proc+"/ns/net") == m.Cookie) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked tells whether the process was started with the lab's mark in its
// environment. It may have cleared that since.
func (s *state) marked(proc string) bool {
	env, err := os.ReadFile(proc + "/environ")
	if err != nil {
		return false
	}
	mark := []byte(labVariable + "=" + s.ID)
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(v, mark) {
			return true
		}
	}
	return false
}

// cookie tells a network from all others that there were since the machine
// started; 0 where the kernel has no such number (before Linux 5.14).
func cookie(path string) uint64 {
	var c uint64
	err := (&Machine{Net: path}).inside(func() error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		c, err = unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
		return err
	})
	if err != nil {
		return 0
	}
	return c
}

func (s *state) withNetwork(inode uint64) *Machine {
	for i := range s.Machines {
		if s.Machines[i].Inode == inode {
			return &s.Machines[i]
		}
	}
	return nil
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
