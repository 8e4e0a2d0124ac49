package netlab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/topocast/topocast/internal/hostlist"
)

// A Lab is a running lab.
type Lab struct {
	Cluster *Cluster
	dir     string
	command string
	pid     int       // of the fabric
	leash   io.Closer // the lab goes when this is closed; nil: it stays
}

// lab is where the lab of the given name lives.
func (s *Settings) lab(name string) (*Lab, error) {
	dir, err := filepath.Abs(filepath.Join(cmp.Or(s.Dir, "/run/netlab"), name))
	l := &Lab{dir: dir, command: s.Command}
	if err == nil && l.command == "" {
		l.command, err = os.Executable()
	}
	return l, err
}

// list lists the CPUs of a set.
func list(set *unix.CPUSet) (cpus []int) {
	for cpu := range len(set) * bits.UintSize {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// cpus are those of ranks: this program's without the fabric's, if others are left.
func (l *Lab) cpus() (*unix.CPUSet, error) {
	var own, fabric unix.CPUSet
	if err := errors.Join(unix.SchedGetaffinity(0, &own), unix.SchedGetaffinity(l.pid, &fabric)); err != nil {
		return nil, err
	}
	if others := own; own.Count() > 1 && fabric.Count() == 1 {
		others.Clear(list(&fabric)[0])
		return &others, nil
	}
	return &own, nil
}

// Open returns the running lab of the given name.
func Open(name string, s *Settings) (*Lab, error) {
	l, err := s.lab(name)
	if err != nil {
		return nil, fmt.Errorf("netlab: open: %w", err)
	}
	lock, err := lockLab(l.dir)
	if err == nil {
		lock.Close()
		err = ErrDown
	}
	if errors.Is(err, ErrUp) {
		l.pid, err = readNumber(filepath.Join(l.dir, pidFile))
	}
	if err != nil {
		return nil, fmt.Errorf("netlab: %s: %w", name, err)
	}
	l.Cluster, err = ReadCluster(filepath.Join(l.dir, clusterName))
	return l, err
}

// readNumber reads a file that has a number and nothing else.
func readNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
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

// machines are the hosts in the order of the graph.
func (c *Cluster) machines() []Machine {
	all := make([]Machine, c.Graph.Hosts())
	for i := range all {
		all[i] = Machine{Name: c.Graph.Name(i), Address: fabricAddr(i).String(), Control: controlAddr(i).String()}
	}
	return all
}

// Machines returns the hosts in the order of the graph.
func (l *Lab) Machines() []Machine { return l.Cluster.machines() }

// namespaces is the folder of the files by which the named machine's namespaces are entered.
func (l *Lab) namespaces(name string) (string, error) {
	thread, err := readNumber(filepath.Join(l.dir, threadFile(name)))
	if errors.Is(err, os.ErrNotExist) {
		names := append(l.Cluster.Graph.Names()[:l.Cluster.Graph.Hosts()], control)
		return "", fmt.Errorf("unknown host %q: want one of %s", name, strings.Join(names, ", "))
	}
	// The number is the one that processes of the lab see.
	return fmt.Sprintf("/proc/%d/root/proc/%d/ns", l.pid, thread), err
}

// Command returns a command that runs args on the named host, or with
// "control" where launchers run. What it runs ends with the command.
func (l *Lab) Command(host string, args ...string) *exec.Cmd {
	words, err := l.enter(host)
	if err != nil {
		return &exec.Cmd{Err: err}
	}
	return exec.Command(words[0], append(words[1:], args...)...)
}

// enter is the beginning of a command line for a program on a host. The programs of util-linux that it names become
// one another, until the last one starts the program as a process of the lab, and waits.
func (l *Lab) enter(host string) ([]string, error) {
	ns, err := l.namespaces(host)
	if err != nil {
		return nil, err
	}
	cpus, err := l.cpus()
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return []string{
		"taskset", "--cpu-list", hostlist.Numbers(list(cpus)),
		"nsenter", "--no-fork", "--net=" + ns + "/net", "--uts=" + ns + "/uts", "--ipc=" + ns + "/ipc", "--mount=" + ns + "/mnt",
		fmt.Sprintf("--pid=/proc/%d/ns/pid", l.pid),
		"env", "--chdir=" + folder, "TMPDIR=" + filepath.Join(l.dir, tempDir),
		"unshare", "--fork", "--kill-child",
	}, nil
}

// ask sends a request to the fabric and returns its answer.
func (l *Lab) ask(request string) (*Counters, error) {
	c := &Counters{}
	err := func() error {
		const limit = 20 * time.Second // a busy machine may well take seconds
		conn, err := net.DialTimeout("unix", filepath.Join(l.dir, socketFile), limit)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(conn, request); err != nil {
			return err
		}
		return json.NewDecoder(conn).Decode(c)
	}()
	if err != nil {
		return nil, fmt.Errorf("netlab: %s: %w", request, err)
	}
	return c, nil
}

// Requests to the fabric. All are answered with the counters so far.
const (
	countRequest = "counters"
	resetRequest = "reset"
	stopRequest  = "stop"
)

// Counters returns what the links have carried since Up or Reset.
func (l *Lab) Counters() (*Counters, error) { return l.ask(countRequest) }

// Reset starts to count anew, and returns what was counted before.
func (l *Lab) Reset() (*Counters, error) { return l.ask(resetRequest) }

// Down removes the lab: it ends all processes in it, then the fabric, with
// which the network goes. It returns the last counters.
func (l *Lab) Down() (*Counters, error) {
	c, _ := l.ask(stopRequest) // a fabric that does not answer is ended below
	return c, Down(l.Cluster.Name, &Settings{Dir: filepath.Dir(l.dir), Command: l.command})
}

// Down removes the lab of the given name, whether it lives, has crashed or
// was killed. Where there is nothing to remove it does nothing.
func Down(name string, s *Settings) error {
	l, err := s.lab(name)
	if err != nil {
		return fmt.Errorf("netlab: down: %w", err)
	}
	const patience = 5 * time.Second
	for begin, asked := time.Now(), false; ; time.Sleep(20 * time.Millisecond) {
		lock, err := lockLab(l.dir)
		switch {
		case err == nil:
			defer lock.Close()
			return removeAll(l.dir)
		case errors.Is(err, ErrDown):
			return nil
		case !errors.Is(err, ErrUp):
			return fmt.Errorf("netlab: down: %w", err)
		}
		// It lives: ask once, and in the end insist.
		pid, err := readNumber(filepath.Join(l.dir, pidFile))
		late := time.Since(begin) > patience
		switch {
		case err == nil && !asked:
			asked = true
			l.ask(stopRequest) // an error shows in the lock, which stays taken
			begin = time.Now()
		case err == nil && late:
			unix.Kill(pid, unix.SIGKILL)
			begin = time.Now()
		case late:
			return fmt.Errorf("netlab: down: %s: locked by a process that has left no number", name)
		}
	}
}
