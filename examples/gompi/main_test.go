//go:build mpi && cgo

package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"testing"

	gompi "github.com/sbromberger/gompi"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) {
	runtime.LockOSThread()
	gompi.Start(false)
	comm := gompi.NewCommunicator(nil)
	if want := os.Getenv(mpitest.SizeVar); want != "" && want != strconv.Itoa(comm.Size()) {
		fmt.Fprintf(os.Stderr, "the job has %d ranks, but %s=%s\n", comm.Size(), mpitest.SizeVar, want)
		comm.Abort(1)
	}
	if code := m.Run(); code != 0 {
		comm.Abort(code)
	}
	gompi.Stop()
	os.Exit(0)
}

func TestContract(t *testing.T) {
	mpitest.Run(t, mpi.Wrap(gompi.NewCommunicator(nil)))
}

// The half sine is an eigenvector of a step, with the eigenvalue
// 1 - 4 ratio sin^2(pi/2/(n+1)), so the heat after k steps is known.
func TestHeatOfTheRod(t *testing.T) {
	const n, steps = 50, 400
	got, err := run(gompi.NewCommunicator(nil), n, steps)
	if err != nil {
		t.Fatal(err)
	}
	s := math.Sin(math.Pi / 2 / (n + 1))
	want := heatOf(sine(n)) * math.Pow(1-4*ratio*s*s, steps)
	if math.Abs(got-want) > 1e-10*want {
		t.Errorf("run(%d cells, %d steps) = %.12g, want %.12g", n, steps, got, want)
	}
}
