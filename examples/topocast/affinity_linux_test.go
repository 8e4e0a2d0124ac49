package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/topocast/topocast/model"
)

// TestDiscoverOnOneCore: a process that may use one core only has one rank unless it is told
// otherwise, and both are said.
func TestDiscoverOnOneCore(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	for _, c := range []struct {
		ranks, says string
	}{
		{"0", "1 rank, flat"},
		{"0", "a single rank has nobody to talk to"},
		{"2", "ranks outnumber the cores"},
	} {
		network := filepath.Join(t.TempDir(), "network.json")
		cmd := exec.Command(self, "discover", "--ranks", c.ranks, "--budget", "1s", "--patterns", "0", "--output", network)
		cmd.Env = append(os.Environ(), commandVar+"=1")
		// A child has the mask of the thread that starts it.
		ended := make(chan error)
		var out []byte
		go func() {
			runtime.LockOSThread() // and ends with the goroutine
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				ended <- err
				return
			}
			var err error
			out, err = cmd.CombinedOutput()
			ended <- err
		}()
		if err := <-ended; err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("--ranks %s: %v, want %q in\n%s", c.ranks, err, c.says, out)
		}
		if _, err := model.Load(network); err != nil {
			t.Error(err)
		}
	}
}
