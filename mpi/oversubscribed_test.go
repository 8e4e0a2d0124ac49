//go:build linux

package mpi_test

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// oversubscribedJob is a job (jobVar) that tells whether World lets waits yield; cpusVar
// holds the CPUs of each rank, as in "0,1 0,1 0".
const (
	oversubscribedJob = "oversubscribed"
	cpusVar           = "TOPOCAST_TEST_CPUS"
)

// rankOfOversubscribed binds itself as a launcher would, before MPI starts.
func rankOfOversubscribed() {
	err := func() error {
		rank, err := strconv.Atoi(cmp.Or(os.Getenv("OMPI_COMM_WORLD_RANK"), os.Getenv("PMI_RANK")))
		if err != nil {
			return err
		}
		runtime.LockOSThread()
		var set unix.CPUSet
		for _, cpu := range strings.Split(strings.Fields(os.Getenv(cpusVar))[rank], ",") {
			n, err := strconv.Atoi(cpu)
			if err != nil {
				return err
			}
			set.Set(n)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return err
		}
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(set.Count()) // as Go does in a process that was bound before it started
		}
		return mpi.Run(func(c mpi.Communicator) error {
			fmt.Printf("yields=%v procs=%d\n", c.(*mpi.Comm).Yields(), runtime.GOMAXPROCS(0))
			return nil
		})
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestJobOversubscribed starts jobs whose ranks may use one CPU or two. Their waits
// yield where ranks have to share, and Go has a P to spare for a rank that waits in C, unless the user has set how many it has.
func TestJobOversubscribed(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skipf("no %s; make test sets it", launcherVar)
	}
	cores, err := local.Cores()
	if err != nil || len(cores) < 2 {
		tooltest.Lacks(t, "CPUs %d, %v: want two", cores, err)
	}
	a, b := strconv.Itoa(cores[0]), strconv.Itoa(cores[1])
	both := a + "," + b
	for _, tt := range []struct {
		name   string
		cpus   []string
		set    string // GOMAXPROCS of the environment
		yields bool
		procs  int // GOMAXPROCS of the rank
	}{
		{"two ranks on one CPU", []string{a, a}, "", true, 2},
		{"two ranks on a CPU each", []string{a, b}, "", false, 2},
		{"two ranks on a CPU each, as the user wants Go to be", []string{a, b}, "1", false, 1},
		{"two ranks that may use the same two CPUs", []string{both, both}, "", false, 2},
		{"two ranks that may use the same two CPUs, as the user wants Go to be", []string{both, both}, "3", false, 3},
		{"three ranks on two CPUs", []string{both, both, both}, "", true, 2},
		{"one rank that may use both beside one that may not", []string{both, a}, "", false, 2},
	} {
		command := append(launcher[1:len(launcher):len(launcher)], "-n", strconv.Itoa(len(tt.cpus)), os.Args[0])
		env := []string{cpusVar + "=" + strings.Join(tt.cpus, " "), "GOMAXPROCS=" + tt.set}
		out, err := launch(t, oversubscribedJob, env, append(launcher[:1:1], command...)...)
		want := fmt.Sprintf("yields=%v procs=%d\n", tt.yields, tt.procs)
		if err != nil || strings.Count(out, want) != len(tt.cpus) {
			t.Errorf("%s: %v, the ranks say:\n%s\nwant of each: %s", tt.name, err, out, want)
		}
	}
}
