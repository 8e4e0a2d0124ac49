package netlab

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed preload
var preloads embed.FS

// Run runs an MPI job in the lab and waits for its end. All its processes are
// ended when it returns, also if ctx ends first: an MPI job that hangs is
// nothing rare. Other processes in the lab are left alone. One job runs at a
// time; a second one waits.
func (l *Lab) Run(ctx context.Context, j *Job, stdout, stderr io.Writer) error {
	unlock, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	list, err := j.hostList(l.Machines())
	if err != nil {
		return err
	}
	hosts := filepath.Join(l.dir, "ranks")
	if err := os.WriteFile(hosts, []byte(list), 0o644); err != nil {
		return fmt.Errorf("netlab: run: %w", err)
	}
	preload, err := l.Preload(ctx, j.MPI)
	if err != nil {
		return err
	}
	args, env, err := j.command(hosts, filepath.Join(l.dir, agentFile), preload)
	if err != nil {
		return err
	}
	return l.supervise(ctx, control, args, env, nil, stdout, stderr)
}

// RunOn runs a program on a host, without MPI, and waits for its end. Like
// Run it leaves no process behind.
func (l *Lab) RunOn(ctx context.Context, host string, program []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return l.supervise(ctx, host, program, nil, stdin, stdout, stderr)
}

// A job is a tree of processes: the supervisor, the launcher, and for each host an agent, which becomes a shell that starts the
// library's daemon, whose children are the ranks.

// supervise runs args on a host under a supervisor, which ends all that
// descends from them: when they end, when ctx ends, and when this program does,
// be it by kill -9.
func (l *Lab) supervise(ctx context.Context, host string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) error {
	end, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("netlab: run: %w", err)
	}
	defer leash.Close()
	cmd := exec.Command(l.command, append([]string{"supervise", l.command, l.dir, host}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.ExtraFiles = []*os.File{end}
	// What a terminal sends goes to this program, which then ends the job, unless
	// the job reads from the terminal itself.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: stdin == nil}
	err = cmd.Start()
	end.Close()
	if err != nil {
		return fmt.Errorf("netlab: run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
		if err != nil {
			return fmt.Errorf("netlab: run: %s: %w", args[0], err)
		}
		return nil
	case <-ctx.Done():
		leash.Close()
		<-ended
		return fmt.Errorf("netlab: run: %s: %w", args[0], context.Cause(ctx))
	}
}

// exclusive waits until no other job runs in the lab.
func (l *Lab) exclusive(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(l.dir, jobLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("netlab: run: %w", err)
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("netlab: run: another job runs: %w", context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return func() { f.Close() }, nil
}

// Preload builds what is loaded into the ranks of an MPI library, once per lab, by LD_PRELOAD, and returns the
// file. Ranks sleep while they wait if NETLAB_SLEEP is set.
func (l *Lab) Preload(ctx context.Context, mpi string) (string, error) {
	sources := []string{"wait.c"}
	if mpi == MPICH {
		sources = append(sources, "mpich.c")
	}
	library := filepath.Join(l.dir, mpi+".so")
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	args := []string{"-O2", "-shared", "-fPIC", "-o", library + ".new"}
	for _, name := range sources {
		text, err := preloads.ReadFile("preload/" + name)
		if err != nil {
			return "", fmt.Errorf("netlab: run: %w", err)
		}
		source := filepath.Join(l.dir, name)
		if err := os.WriteFile(source, text, 0o644); err != nil {
			return "", fmt.Errorf("netlab: run: %w", err)
		}
		args = append(args, source)
	}
	out, err := exec.CommandContext(ctx, "cc", append(args, "-ldl")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("netlab: run: build what is loaded into the ranks: cc: %w\n%s", err, out)
	}
	if err := os.Rename(library+".new", library); err != nil {
		return "", fmt.Errorf("netlab: run: %w", err)
	}
	return library, nil
}
