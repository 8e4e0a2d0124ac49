package netlab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	leash   *os.File // the lab goes when this is closed; nil: it stays
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

// Up starts a lab, and first removes what a dead one of the same name has
// left. The lab stays up after the program has ended, until Down, unless
// Settings.Leash ties it to the program. A fabric that is not ready within
// Settings.Timeout is ended.
func Up(c *Cluster, s *Settings) (*Lab, error) {
	l, err := launch(c, s)
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %s: %w", c.Name, err)
	}
	return l, nil
}

func launch(c *Cluster, s *Settings) (*Lab, error) {
	if err := permitted(); err != nil {
		return nil, err
	}
	l, err := s.lab(c.Name)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return nil, err
	}
	var in bytes.Buffer
	if err := c.Encode(&in); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(l.dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ready, leash, cmd, err := l.startFabric(&in, log, s.Leash)
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	if err := await(ready, s.timeout()); err != nil {
		leash.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			cmd.Process.Kill()
			err = fmt.Errorf("the fabric is not ready after %v; it is ended, its log is %s", s.timeout(), log.Name())
		}
		cmd.Wait()
		return nil, err
	}
	go cmd.Wait() // so that no zombie stays where this program lives on
	if l, err = Open(c.Name, s); err != nil {
		leash.Close()
		return nil, err
	}
	l.leash = leash
	return l, nil
}

// startFabric starts the fabric with one end of a pipe by which it says that it is ready.
// A leashed one has another pipe, which ends when this program does. The
// other ends are returned; that of the leash is nil without one.
func (l *Lab) startFabric(in io.Reader, log *os.File, leashed bool) (ready, leash *os.File, cmd *exec.Cmd, err error) {
	cmd = exec.Command(l.command, "fabric", l.dir, l.command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, log, log
	// The event loop is not to be interrupted for the scheduler's sake.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	defer func() {
		for _, f := range cmd.ExtraFiles {
			f.Close() // the fabric has its own
		}
		if err != nil {
			ready.Close()
			leash.Close()
		}
	}()
	ready, child, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	cmd.ExtraFiles = []*os.File{child}
	if leashed {
		cmd.Args = append(cmd.Args, "leashed")
		var end *os.File
		if end, leash, err = os.Pipe(); err != nil {
			return ready, nil, nil, err
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, end)
	}
	return ready, leash, cmd, cmd.Start()
}

// await reads what the fabric says of itself, nil if it is ready.
func await(ready *os.File, limit time.Duration) error {
	if err := ready.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	answer, err := io.ReadAll(ready)
	switch {
	case err != nil:
		return err
	case string(answer) == ErrUp.Error():
		return ErrUp
	case len(answer) == 0:
		return errors.New("the fabric ended without a word")
	case string(answer) != "ready":
		return fmt.Errorf("fabric: %s", answer)
	}
	return nil
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
	if !errors.Is(err, ErrUp) {
		return nil, fmt.Errorf("netlab: %s: %w", name, err)
	}
	if l.state, err = readState(l.dir); err != nil {
		return nil, err
	}
	l.Cluster, err = ReadCluster(filepath.Join(l.dir, clusterName))
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

// Counters returns what the links have carried since Up or Reset.
func (l *Lab) Counters() (*Counters, error) { return l.ask("counters") }

// Reset starts to count anew, and returns what was counted before.
func (l *Lab) Reset() (*Counters, error) { return l.ask("reset") }

// Down removes the lab: it ends all processes in it, then the fabric, with
// which the network goes. It returns the last counters.
func (l *Lab) Down() (*Counters, error) {
	c, _ := l.ask("stop") // a fabric that does not answer is ended below
	l.leash.Close()       // an error says that there is none
	return c, Down(l.Cluster.Name, &Settings{Dir: filepath.Dir(l.dir), Command: l.command})
}

// Down removes the lab of the given name, whether it lives, has crashed or
// was killed. Where there is nothing to remove it does nothing.
func Down(name string, s *Settings) error {
	l, err := s.lab(name)
	if err != nil {
		return fmt.Errorf("netlab: down: %w", err)
	}
	deadline := time.Now().Add(5 * time.Second)
	asked := false
	for {
		lock, err := lockLab(l.dir)
		switch {
		case err == nil:
			defer lock.Close()
			return clean(l.dir)
		case errors.Is(err, ErrDown):
			return nil
		case !errors.Is(err, ErrUp):
			return fmt.Errorf("netlab: down: %w", err)
		}
		// It lives: ask once, and in the end insist.
		st, err := readState(l.dir)
		if err == nil && !asked {
			asked = true
			l.ask("stop") // an error shows in the lock, which stays taken
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

// machine finds a machine by name.
func (s *state) machine(name string) (*Machine, error) {
	var names []string
	for i := range s.Machines {
		if names = append(names, s.Machines[i].Name); names[i] == name {
			return &s.Machines[i], nil
		}
	}
	return nil, fmt.Errorf("netlab: unknown host %q: want one of %s", name, strings.Join(names, ", "))
}
