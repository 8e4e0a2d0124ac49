package netlab

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// KeepAwake uses up what everything else leaves of a CPU, so that it never halts. A CPU that belongs to a virtual
// machine goes to others when it halts, as the fabric's does in each gap between frames, and comes back late;
// a rank's does when it waits for a message.
// It returns only where it cannot give way to everything.
func KeepAwake(cpu int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("netlab: keep awake: cpu %d: %w", cpu, err)
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("netlab: keep awake: %w", err)
	}
	//lint:ignore SA5002 this is its work
	for {
	}
}

// keepAwake starts a process that does so for the fabric's CPU and, where the host takes time, one for each CPU of
// the ranks. They end with the calling thread, or when stop is called. They are no threads of this process: one that
// holds a lock of Go's runtime must not wait for the loop.
func (d *daemon) keepAwake(command string) (stop func()) {
	var started []*exec.Cmd
	stop = func() {
		for _, cmd := range started {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	if d.cpu < 0 {
		return stop
	}
	cpus := []int{d.cpu}
	if stolen() {
		cpus = append(cpus, d.state.CPUs...)
	}
	for _, cpu := range cpus {
		cmd := exec.Command(command, "awake", strconv.Itoa(cpu))
		cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
		if cmd.Start() == nil { // the lateness otherwise shows in the counters
			started = append(started, cmd)
		}
	}
	return stop
}

// stolen tells whether others have had time of this machine's CPUs: the eighth number of the first line.
func stolen() bool {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	return len(fields) > 8 && fields[8] != "0"
}
