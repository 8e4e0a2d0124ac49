package netlab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Lab is a running lab.
type Lab struct {
	Cluster *Cluster
	dir     string
	command string
	state   *state
}

// Available tells why a lab cannot be made here, nil if it can.
func Available() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("netlab: not root: %w", ErrUnavailable)
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("netlab: /dev/net/tun: %w: %w", err, ErrUnavailable)
	}
	return unix.Close(fd)
}

func (s *Settings) executable() (string, error) {
	if s != nil && s.Command != "" {
		return s.Command, nil
	}
	return os.Executable()
}

// Up starts a lab, and first removes what a dead one of the same name has
// left. The lab stays up after the program has ended, until Down.
func Up(c *Cluster, s *Settings) (*Lab, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	command, err := s.executable()
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	dir, err := filepath.Abs(s.dir(c.Name))
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	var in bytes.Buffer
	if err := c.Encode(&in); err != nil {
		return nil, err
	}
	ready, child, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	defer ready.Close()
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		child.Close()
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(command, "fabric", dir, command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, log, log
	// The event loop is not to be interrupted for the scheduler's sake.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles = []*os.File{child}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	child.Close()
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %w", err)
	}
	go cmd.Wait() // so that no zombie stays where this program lives on
	answer, err := io.ReadAll(ready)
	switch {
	case err != nil:
		return nil, fmt.Errorf("netlab: up: %w", err)
	case string(answer) == ErrUp.Error():
		return nil, fmt.Errorf("netlab: %s: %w", c.Name, ErrUp)
	case string(answer) != "ready":
		return nil, fmt.Errorf("netlab: up: fabric: %s", answer)
	}
	return Open(c.Name, s)
}

// Open returns the running lab of the given name.
func Open(name string, s *Settings) (*Lab, error) {
	command, err := s.executable()
	if err != nil {
		return nil, fmt.Errorf("netlab: open: %w", err)
	}
	dir, err := filepath.Abs(s.dir(name))
	if err != nil {
		return nil, fmt.Errorf("netlab: open: %w", err)
	}
	return openDir(dir, command)
}

func openDir(dir, command string) (*Lab, error) {
	lock, err := lockLab(dir)
	if err == nil {
		lock.Close()
		err = ErrDown
	}
	if !errors.Is(err, ErrUp) {
		return nil, fmt.Errorf("netlab: %s: %w", filepath.Base(dir), err)
	}
	l := &Lab{dir: dir, command: command}
	if l.state, err = readState(dir); err != nil {
		return nil, err
	}
	l.Cluster, err = ReadCluster(filepath.Join(dir, clusterName))
	return l, err
}

// lockLab takes the lock that the fabric holds as long as it lives. It returns
// ErrUp if another process has it, and ErrDown if there is no directory.
func lockLab(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if errors.Is(err, os.ErrNotExist) {
			return nil, ErrDown
		}
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, ErrUp
			}
			return nil, err
		}
		// The file may have been removed between the two calls.
		mine, err := f.Stat()
		if now, err2 := os.Stat(path); err == nil && err2 == nil && os.SameFile(mine, now) {
			return f, nil
		}
		f.Close()
	}
}

func readState(dir string) (*state, error) {
	b, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, fmt.Errorf("netlab: state: %w", err)
	}
	s := &state{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("netlab: state: %s: %w", dir, err)
	}
	if s.Format != stateFormat || s.Version != 1 {
		return nil, fmt.Errorf("netlab: state: %s: format %q, version %d: not of this program", dir, s.Format, s.Version)
	}
	return s, nil
}

// Machines returns the hosts in the order of the graph. The slice is the lab's.
func (l *Lab) Machines() []Machine { return l.state.Machines[:l.Cluster.Graph.Hosts()] }

// Command returns a command that runs args on the named host, or with
// "control" where launchers run.
func (l *Lab) Command(host string, args ...string) *exec.Cmd {
	return exec.Command(l.command, append([]string{"exec", l.dir, host}, args...)...)
}

// ask sends a request to the fabric.
func (l *Lab) ask(request string, answer any) error {
	conn, err := net.DialTimeout("unix", filepath.Join(l.dir, socketFile), 2*time.Second)
	if err != nil {
		return fmt.Errorf("netlab: %s: %w", request, err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return fmt.Errorf("netlab: %s: %w", request, err)
	}
	if _, err := fmt.Fprintln(conn, request); err != nil {
		return fmt.Errorf("netlab: %s: %w", request, err)
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("netlab: %s: %w", request, err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("netlab: %s: %w", request, err)
	}
	return nil
}

// Counters returns what the links have carried since Up or Reset.
func (l *Lab) Counters() (*Counters, error) {
	c := &Counters{}
	return c, l.ask("counters", c)
}

// Reset starts to count anew, and returns what was counted before.
func (l *Lab) Reset() (*Counters, error) {
	c := &Counters{}
	return c, l.ask("reset", c)
}

// Down removes the lab: it ends all processes in it, then the fabric, with
// which the network goes. It returns the last counters.
func (l *Lab) Down() (*Counters, error) {
	c := &Counters{}
	err := l.ask("stop", c)
	if err != nil {
		c = nil
	}
	return c, Down(l.Cluster.Name, &Settings{Dir: filepath.Dir(l.dir), Command: l.command})
}

// Down removes the lab of the given name, whether it lives, has crashed or
// was killed. Where there is nothing to remove it does nothing.
func Down(name string, s *Settings) error {
	dir, err := filepath.Abs(s.dir(name))
	if err != nil {
		return fmt.Errorf("netlab: down: %w", err)
	}
	deadline := time.Now().Add(5 * time.Second)
	asked := false
	for {
		lock, err := lockLab(dir)
		switch {
		case err == nil:
			defer lock.Close()
			return clean(dir)
		case errors.Is(err, ErrDown):
			return nil
		case !errors.Is(err, ErrUp):
			return fmt.Errorf("netlab: down: %w", err)
		}
		// It lives: ask once, and in the end insist.
		st, err := readState(dir)
		if err == nil && !asked {
			asked = true
			l := &Lab{dir: dir}
			l.ask("stop", &Counters{}) // an error shows in the lock, which stays taken
		} else if err == nil && time.Now().After(deadline) {
			unix.Kill(st.PID, unix.SIGKILL)
			deadline = time.Now().Add(5 * time.Second)
		} else if time.Now().After(deadline) {
			return fmt.Errorf("netlab: down: %s: locked by a process that has left no state", name)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// clean removes what a fabric that has ended has left. The caller holds the lock.
func clean(dir string) error {
	st, err := readState(dir)
	if err == nil {
		st.killAll()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("netlab: down: %w", err)
	}
	return nil
}

// killAll ends the processes of the lab: those in one of its networks that
// carry its mark. The mark alone could be inherited by a process elsewhere,
// and the number of a namespace that is gone can be given out again.
func (s *state) killAll() {
	for range 100 {
		pids := s.processes()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// processes lists the processes of the lab, those that have ended aside.
func (s *state) processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	mark := []byte(labVariable + "=" + s.ID)
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == s.PID {
			continue
		}
		proc := filepath.Join("/proc", e.Name())
		var st unix.Stat_t
		if unix.Stat(proc+"/ns/net", &st) != nil || !s.has(st.Ino) {
			continue
		}
		env, err := os.ReadFile(proc + "/environ")
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(v, mark) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

func (s *state) has(inode uint64) bool {
	for _, m := range s.Machines {
		if m.Inode == inode {
			return true
		}
	}
	return false
}

// machine finds a machine by name.
func (s *state) machine(name string) (*Machine, error) {
	for i := range s.Machines {
		if s.Machines[i].Name == name {
			return &s.Machines[i], nil
		}
	}
	var names []string
	for _, m := range s.Machines {
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("netlab: unknown host %q: want one of %s", name, strings.Join(names, ", "))
}
