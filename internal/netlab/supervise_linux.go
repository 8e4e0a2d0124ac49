package netlab

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Supervise runs args on the named host of the lab in dir, with the standard
// files of this process, and returns the exit status. When that is over, or
// the leash ends, it ends whatever the job has left. The leash is a pipe: the
// caller of the job holds its other end, which the kernel closes. As the
// subreaper of all below, this process finds also those that have lost their parents,
// or cleared their environments.
func Supervise(dir, host string, args []string, command string, leash *os.File) (int, error) {
	unix.CloseOnExec(int(leash.Fd()))
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	cmd := exec.Command(command, append([]string{"exec", dir, host}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// An interrupt of the terminal goes to the program, too; its end ends this.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	below := func() []int { return descendants(os.Getpid()) }
	go func() {
		for s := range signals {
			if s == unix.SIGTERM {
				kill(below)
			}
		}
	}()
	go func() {
		io.Copy(io.Discard, leash)
		kill(below)
	}()
	err := cmd.Wait()
	kill(below)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	}
	return 0, err
}
