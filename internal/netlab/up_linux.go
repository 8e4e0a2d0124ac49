package netlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Available tells why a lab cannot be made here, nil if it can. Root in a
// container has seldom all rights, nor every kernel all parts: it makes a lab,
// enters a host, and lets it go again.
func Available(s *Settings) error {
	const trial = `{"format":"topocast/netlab","version":1,"spec":"star:2"}`
	dir, err := os.MkdirTemp("", "netlab")
	if err != nil {
		return fmt.Errorf("netlab: %w", err)
	}
	defer os.RemoveAll(dir)
	c, err := DecodeCluster(strings.NewReader(trial), "", "trial")
	if err != nil {
		return err
	}
	l, err := Up(c, &Settings{Dir: dir, Command: s.Command, Leash: true})
	if err == nil {
		var said bytes.Buffer
		if err = l.RunOn(context.Background(), c.Graph.Name(0), []string{"true"}, nil, &said, &said); err != nil {
			err = fmt.Errorf("%w: %s", err, said.Bytes())
		}
		_, down := l.Down()
		err = errors.Join(err, down)
	}
	if err != nil && !errors.Is(err, ErrUnavailable) {
		err = fmt.Errorf("%w: %w", err, ErrUnavailable)
	}
	return err
}

// Up starts a lab, and first removes what a dead one of the same name has
// left. The lab stays up after the program has ended, until Down, unless
// Settings.Leash ties it to the program. A fabric that is not ready within
// Settings.Timeout is ended.
func Up(c *Cluster, s *Settings) (*Lab, error) {
	l, err := s.lab(c.Name)
	if err == nil {
		l.Cluster = c
		err = l.launch(s)
	}
	if err != nil {
		return nil, fmt.Errorf("netlab: up: %s: %w", c.Name, err)
	}
	return l, nil
}

func (l *Lab) launch(s *Settings) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("not root: %w", ErrUnavailable)
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	lock, err := lockLab(l.dir)
	if err != nil {
		return err
	}
	defer lock.Close() // the fabric has it as well
	for _, name := range []string{pidFile, socketFile, tempDir} {
		if err := removeAll(filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := l.Cluster.Encode(&text); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.dir, clusterName), text.Bytes(), 0o644); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(l.dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	return l.startFabric(lock, log, s)
}

// startFabric starts the fabric and waits until it says that it is ready. A leashed one reads a pipe, which ends when
// this program does.
func (l *Lab) startFabric(lock, log *os.File, s *Settings) (err error) {
	ready, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(l.command, "fabric", l.dir)
	cmd.Stdout, cmd.Stderr = says, log
	cmd.ExtraFiles = []*os.File{lock}
	// The event loop is not to be interrupted for the scheduler's sake. Nor is there a collection: its threads wait
	// actively for each other, and at real-time priority on one CPU for ever. What the loop needs it has; requests leave
	// a few KB each.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=2", "GOGC=off", "GOMEMLIMIT=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	// A program inherits the CPU and the priority of the thread that starts it, for all its threads.
	err = onOwnThread(func() error {
		cpu, err := takeLastCPU()
		if err != nil {
			return err
		}
		if setRealTime(fabricPriority) != nil {
			unix.Setpriority(unix.PRIO_PROCESS, 0, -20) // where that is refused, too, the lateness shows in the counters
		}
		cmd.Args = append(cmd.Args, strconv.Itoa(cpu))
		if s.Leash {
			cmd.Args = append(cmd.Args, "leashed")
			if l.leash, err = cmd.StdinPipe(); err != nil {
				return err
			}
		}
		return cmd.Start()
	})
	says.Close()
	if err != nil {
		return err
	}
	late := time.AfterFunc(s.timeout(), func() { cmd.Process.Kill() })
	answer, err := io.ReadAll(ready)
	switch {
	case !late.Stop():
		err = fmt.Errorf("the fabric is not ready after %v; it is ended, its log is %s", s.timeout(), log.Name())
	case err == nil && len(answer) == 0:
		err = errors.New("the fabric ended without a word")
	case err == nil && string(answer) != "ready":
		err = fmt.Errorf("fabric: %s", answer)
	}
	if err == nil {
		l.pid = cmd.Process.Pid
		err = os.WriteFile(filepath.Join(l.dir, pidFile), []byte(strconv.Itoa(l.pid)), 0o644)
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return err
	}
	go cmd.Wait() // so that no zombie stays where this program lives on
	return nil
}

// takeLastCPU binds the calling thread to the last of its CPUs, if there are others for ranks. Otherwise it returns -1.
func takeLastCPU() (cpu int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, err
	}
	if set.Count() < 2 {
		return -1, nil
	}
	cpu = slices.Max(list(&set))
	set.Zero()
	set.Set(cpu)
	return cpu, unix.SchedSetaffinity(0, &set)
}

// removeAll removes a folder in which processes that are being killed may still make files.
func removeAll(path string) (err error) {
	for range 100 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("netlab: %w", err)
}
