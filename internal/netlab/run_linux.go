package netlab

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The sources of what is loaded into ranks. Together they are one as well.
var (
	//go:embed preload/wait.c
	waitSource string
	//go:embed preload/mpich.c
	mpichSource string
)

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
	return l.run(ctx, control, args, env, nil, stdout, stderr)
}

// RunOn runs a program on a host, without MPI, and waits for its end. Like
// Run it leaves no process behind.
func (l *Lab) RunOn(ctx context.Context, host string, program []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return l.run(ctx, host, program, nil, stdin, stdout, stderr)
}

// jobScript is the first process of a job, in a namespace of processes: what ends it ends the job. It runs the
// program in its arguments. The end of file 3 kills the program, and so this script.
const jobScript = `{ read -r _ <&3; kill -9 -1; } & "$@" 3<&-; exit`

// run runs args on a host as a job of its own, which ends with them, with ctx, and with this program, be that by kill -9.
// Its processes have numbers of their own, which /proc does not show; /proc/self is right.
func (l *Lab) run(ctx context.Context, host string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) error {
	// Numbers of processes come again in the next job, and with them the names of what launchers leave here.
	temp, err := os.MkdirTemp(filepath.Join(l.dir, tempDir), "job")
	if err != nil {
		return fmt.Errorf("netlab: run: %w", err)
	}
	defer removeAll(temp)
	end, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("netlab: run: %w", err)
	}
	defer leash.Close()
	cmd := l.Command(host, append([]string{"env", "TMPDIR=" + temp, "unshare", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", jobScript, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.ExtraFiles = []*os.File{end}
	// What a terminal sends goes to this program, which then ends the job, unless
	// the job reads from the terminal itself.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: stdin == nil}
	err = cmd.Start()
	end.Close()
	if err == nil {
		defer context.AfterFunc(ctx, func() { leash.Close() })()
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("netlab: run: %s: %w", args[0], err)
	}
	return nil
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
	library := filepath.Join(l.dir, mpi+".so")
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	source := waitSource
	if mpi == MPICH {
		source += mpichSource
	}
	cc := exec.CommandContext(ctx, "cc", "-O2", "-shared", "-fPIC", "-o", library+".new", "-x", "c", "-", "-ldl")
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("netlab: run: build what is loaded into the ranks: cc: %w\n%s", err, out)
	}
	if err := os.Rename(library+".new", library); err != nil {
		return "", fmt.Errorf("netlab: run: %w", err)
	}
	return library, nil
}
