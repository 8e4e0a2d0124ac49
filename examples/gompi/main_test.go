//go:build gompi && cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gompi "github.com/sbromberger/gompi"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

// besideVar is set for processes of one rank that tests start.
const besideVar = "TOPOCAST_TEST_BESIDE"

func TestMain(m *testing.M) {
	runtime.LockOSThread()
	when := os.Getenv(besideVar)
	gompi.Start(when != "single")
	comm := gompi.NewCommunicator(nil)
	switch when {
	case "":
	case "single":
		_, err := mpi.World()
		fmt.Println(err)
		gompi.Stop()
		os.Exit(0)
	default:
		wrongRank(comm, when)
	}
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

// The half sine is an eigenvector of a step, with the eigenvalue
// 1 - 4 ratio sin^2(pi/2/(n+1)), so the heat after k steps is known.
func TestHeatOfTheRod(t *testing.T) {
	for _, adapter := range []bool{false, true} {
		holdHeat(t, 20, adapter)
	}
}

func holdHeat(t *testing.T, steps int, adapter bool) {
	t.Helper()
	const n = 50
	got, err := run(gompi.NewCommunicator(nil), n, steps, adapter)
	if err != nil {
		t.Fatal(err)
	}
	s := math.Sin(math.Pi / 2 / (n + 1))
	want := heatOf(sine(n)) * math.Pow(1-4*ratio*s*s, float64(steps))
	if math.Abs(got-want) > 1e-10*want {
		t.Errorf("run(%d cells, %d steps) = %.12g, want %.12g", n, steps, got, want)
	}
}

// The whole way of a job on gompi: it measures its machine, and broadcasts by what it has found, for
// which the library's own broadcast is a candidate.
func TestDiscoverAndBroadcast(t *testing.T) {
	world, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	rank, n := world.Rank(), world.Size()
	if n > 4 {
		t.Skip("native broadcasts do not yield: on few cores each one of eight ranks waits for time slices")
	}
	found, err := measure.Discover(context.Background(), world, &measure.DiscoverSettings{
		Sampling: measure.Sampling{Repetitions: 1, Samples: 5},
		Patterns: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := &bcast.Settings{Budget: 100 * time.Millisecond}
	if rank == 0 {
		settings.Network = found.Network
		if got := found.Network.Graph().Hosts(); got != n {
			t.Errorf("network of %d ranks, want %d", got, n)
		}
	}
	b, err := bcast.New(world, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	plans, err := b.Candidates(8, 0)
	if err != nil || n > 1 && !slices.ContainsFunc(plans, func(p predict.Plan) bool { return p.Name() == "native" }) {
		t.Errorf("candidates are %v, %v, without native", plans, err)
	}
	for _, size := range []int{1, 8, 4099, 64 << 10} {
		buf, want := make([]byte, size), bytes.Repeat([]byte{byte(size)}, size)
		root := size % n
		if rank == root {
			copy(buf, want)
		}
		for range 2 { // the first may be a contest
			if err := b.Bcast(buf, root); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(buf, want) {
				t.Errorf("rank %d has not got the %d bytes of rank %d", rank, size, root)
			}
		}
	}
}

// World takes what gompi has started, and leaves it as it was. Their messages never meet.
func TestWorldBesideGompi(t *testing.T) {
	comm := gompi.NewCommunicator(nil)
	rank, n := comm.Rank(), comm.Size()
	world, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	if world.Rank() != rank || world.Size() != n {
		t.Fatalf("World is rank %d of %d, want rank %d of %d", world.Rank(), world.Size(), rank, n)
	}
	const tag = 3
	peer := rank ^ 1
	for range 50 {
		switch {
		case peer >= n:
		case rank < peer:
			set := world.NewRequests()
			if err := set.Isend([]byte("world"), peer, tag); err != nil {
				t.Fatal(err)
			}
			comm.SendBytes([]byte("gompi"), peer, tag)
			if err := set.WaitAll(); err != nil {
				t.Fatal(err)
			}
		default:
			late, early := make([]byte, 5), make([]byte, 5)
			comm.RecvPreallocBytes(late, peer, tag)
			if err := world.Recv(early, peer, tag); err != nil {
				t.Fatal(err)
			}
			if string(late) != "gompi" || string(early) != "world" {
				t.Fatalf("gompi has carried %q, and World %q", late, early)
			}
		}
	}
	holdHeat(t, 5, true)
	if err := world.Close(); err != nil {
		t.Fatal(err)
	}
	holdHeat(t, 5, true)
}

// gompi drops return codes: as long as MPI's default handler of errors is set, a wrong rank ends the
// job all the same. World must not change that, be it open or closed.
func TestErrorsOfGompiEndTheJobBesideWorld(t *testing.T) {
	for _, when := range []string{"open", "closed"} {
		out, err := beside(t, when)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() == noWorld {
			t.Errorf("a send to rank 5 of 1 beside a World that is %s: %v, want MPI to end the process\n%s", when, err, out)
		}
	}
}

// gompi.Start(false) starts MPI for one thread, which may be another one than that of the goroutine. World says what to do.
func TestWorldWantsThreads(t *testing.T) {
	if out, err := beside(t, "single"); err != nil || !strings.Contains(out, "gompi.Start(true)") {
		t.Errorf("World after gompi.Start(false) says %q (%v), want gompi.Start(true) to be named", out, err)
	}
}

// beside runs this program as a job of its own, of one rank.
func beside(t *testing.T, when string) (string, error) {
	t.Helper()
	if gompi.WorldSize() > 1 {
		t.Skip("each case is a job of one rank, for which one is enough to ask")
	}
	cmd := exec.Command(os.Args[0])
	ours := func(v string) bool {
		return slices.ContainsFunc([]string{"OMPI_", "PMIX_", "PMI_", "HYDI_", "HYDRA_", "MPI"}, func(p string) bool { return strings.HasPrefix(v, p) })
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ours), besideVar+"="+when)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// noWorld is the status of the process if it does not get as far as the send.
const noWorld = 99

// wrongRank sends to a rank that is not there, beside a World.
func wrongRank(comm *gompi.Communicator, when string) {
	world, err := mpi.World()
	if err == nil && when == "closed" {
		err = world.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(noWorld)
	}
	comm.SendBytes([]byte{1}, 5, 0)
	fmt.Println("the error went unnoticed")
	os.Exit(0)
}
