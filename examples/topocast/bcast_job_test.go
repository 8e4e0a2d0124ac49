//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestJobBcastInterrupted: what a job has timed is printed when the user interrupts its launcher. The ranks are known to be
// in the benchmark when rank 0 has warned of a file of other hosts.
//
// The launcher of Open MPI 5 and later prints nothing of a job that it ends. There the ranks are interrupted.
func TestJobBcastInterrupted(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skip(launcherVar + " is not set: make test sets it")
	}
	version, err := exec.Command(launcher[0], "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	prints := !strings.Contains(launcher[0], "openmpi") || strings.Contains(string(version), "(Open MPI) 4.")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	network := discovered(t, "--sim", "tree:2x2")
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	c := exec.CommandContext(ctx, launcher[0], append(launcher[1:], "-n", "4", self, "bcast", network, "--sizes", "8", "--repetitions", "100000000", "--json")...)
	c.Env = append(os.Environ(), commandVar+"=1")
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	told := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if !told && strings.Contains(lines.Text(), "warning: hosts that were not measured") {
			told = true
			if !prints {
				signalRanks(t, network, syscall.SIGINT)
			} else if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	// Open MPI's launcher ends with 1 when it is interrupted, whatever the job does.
	err = c.Wait()
	if ctx.Err() != nil || !told || !strings.Contains(out.String(), `"format":"topocast/bcast-benchmark"`) || !strings.Contains(out.String(), `"stopped":true`) {
		t.Errorf("%v, %v: printed %s\n%s", err, ctx.Err(), &out, &said)
	}
}
