//go:build linux

package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
)

const (
	// launcherVar holds the launcher and its flags; the number of ranks follows.
	launcherVar = "TOPOCAST_TEST_MPIRUN"

	// jobVar holds the name of the job of which this process is a rank.
	jobVar = "TOPOCAST_TEST_JOB"
)

// A job is what the ranks of an application do. The last rank is the one that
// fails, if any.
type job struct {
	name  string
	work  func(c mpi.Communicator, fails bool) error
	ends  string // what standard error has to tell; "" if the job succeeds
	fails bool

	// The status is the launcher's affair: MPICH's reports 0 for one job in
	// eight of which a rank leaves with 0, though it kills the others.
	anyStatus bool
	// exits: the rank ends without MPI_Abort. Some launchers lose the status of such a rank (tooltest.LosesStatus).
	exits bool
}

var errWork = errors.New("the work went wrong")

// waitForEver receives a message that nobody sends.
func waitForEver(c mpi.Communicator) error {
	return c.Recv(make([]byte, 1), (c.Rank()+1)%c.Size(), 77)
}

func jobs() []job {
	return []job{
		{name: "all ranks succeed and use closed communicators", work: succeed},
		{name: "return while transfers are under way", work: forget},
		{name: "error while others receive", fails: true, ends: "rank 3: " + errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				return errWork
			}
			return waitForEver(c)
		}},
		{name: "panic while others receive", fails: true, ends: "rank 3: panic: " + errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				panic(errWork)
			}
			return waitForEver(c)
		}},
		{name: "nil dereference while others receive", fails: true, ends: "rank 3: panic: runtime error: invalid memory address", work: func(c mpi.Communicator, fails bool) error {
			if fails {
				var none *mpi.Error
				return errors.New(none.Op)
			}
			return waitForEver(c)
		}},
		{name: "Goexit while others receive", fails: true, ends: "rank 3: the goroutine of mpi.Run was ended", work: func(c mpi.Communicator, fails bool) error {
			if fails {
				runtime.Goexit()
			}
			return waitForEver(c)
		}},
		{name: "exit with status 3 while others receive", fails: true, exits: true, ends: "rank 3 exits", work: func(c mpi.Communicator, fails bool) error {
			if fails {
				fmt.Fprintln(os.Stderr, "rank 3 exits")
				os.Exit(3)
			}
			return waitForEver(c)
		}},
		{name: "exit with status 0 while others receive", fails: true, anyStatus: true, ends: "rank 3 exits", work: func(c mpi.Communicator, fails bool) error {
			if fails {
				fmt.Fprintln(os.Stderr, "rank 3 exits")
				os.Exit(0)
			}
			return waitForEver(c)
		}},
		{name: "panic of another goroutine while others receive", fails: true, exits: true, ends: errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				go panic(errWork)
				select {}
			}
			return waitForEver(c)
		}},
		{name: "panic while others broadcast", fails: true, ends: "rank 3: panic: " + errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				panic(errWork)
			}
			return c.(mpi.NativeBcast).Bcast(make([]byte, 1<<20), c.Size()-1)
		}},
		{name: "panic while others send", fails: true, ends: "rank 3: panic: " + errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				panic(errWork)
			}
			return c.(mpi.SyncSender).Ssend(make([]byte, 1<<20), c.Size()-1, 1)
		}},
		{name: "a rank is stopped while others measure", fails: true, ends: "and rank 3 on ", work: measureStopped},
		{name: "a rank is stopped while others check", fails: true, ends: "rank 3 on ", work: checkStopped},
		{name: "a rank is stopped while transfers are under way", fails: true, ends: "rank 3", work: shareStopped},
		{name: "error while others are done", fails: true, ends: "rank 3: " + errWork.Error(), work: func(c mpi.Communicator, fails bool) error {
			if fails {
				return errWork
			}
			return nil
		}},
	}
}

// forget starts receives that nobody answers and a short send that nobody
// receives, collects garbage and returns.
func forget(c mpi.Communicator, _ bool) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	set := c.(mpi.NonBlocking).NewRequests()
	for tag := range 8 {
		if err := set.Irecv(make([]byte, 1<<20), last, tag); err != nil {
			return err
		}
	}
	if err := set.Isend(make([]byte, 64), next, 9); err != nil {
		return err
	}
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
	return nil
}

// succeed passes a byte around the ring of all ranks.
func succeed(c mpi.Communicator, _ bool) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	buf := []byte{0}
	if c.Rank() > 0 {
		if err := c.Recv(buf, last, 1); err != nil {
			return err
		}
	}
	buf[0]++
	if err := c.Send(buf, next, 1); err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := c.Recv(buf, last, 1); err != nil {
			return err
		}
		if int(buf[0]) != c.Size() {
			return fmt.Errorf("the ring counts %d ranks, want %d", buf[0], c.Size())
		}
	}
	return nil
}

// rankOfJob is the main function of a rank.
func rankOfJob(name string) {
	for _, j := range jobs() {
		if j.name != name {
			continue
		}
		var world, own mpi.Communicator
		err := mpi.Run(func(c mpi.Communicator) error {
			world = c
			var err error
			if own, err = mpi.World(); err != nil {
				return err
			}
			return j.work(c, j.fails && c.Rank() == c.Size()-1)
		})
		if err == nil {
			err = useAfterEnd(world, own)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	fmt.Fprintf(os.Stderr, "no job %q\n", name)
	os.Exit(1)
}

// useAfterEnd calls into an MPI that has ended, which would end the process if
// MPI saw it: on the communicator of Run, which is closed, and on another that
// is not.
func useAfterEnd(comms ...mpi.Communicator) error {
	for _, c := range comms {
		peer := (c.Rank() + 1) % c.Size()
		w := c.(*mpi.Comm)
		requests := w.NewRequests()
		_, splitErr := w.Split(0, 0)
		buf := make([]byte, 64)
		_, performErr := w.Perform(nil, []mpi.Step{{Peer: peer}}, 0)
		for i, err := range []error{
			requests.Isend(buf, peer, 1), requests.Irecv(buf, peer, 1),
			w.Send(nil, peer, 1), w.Recv(nil, peer, 1), w.Ssend(nil, peer, 1), w.Bcast(nil, 0),
			requests.Isend(nil, peer, 1), requests.Irecv(nil, peer, 1),
			w.PingPong(make([]float64, 1), peer, 1, 0, 1, true), splitErr,
			requests.(mpi.Ibcaster).Ibcast(buf, 0), performErr,
		} {
			if !errors.Is(err, mpi.ErrClosed) {
				return fmt.Errorf("call %d after the end of MPI = %v, want %v", i, err, mpi.ErrClosed)
			}
		}
	}
	for range 3 {
		runtime.GC() // which finds no leaked pins of the failed Isend
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := mpi.World(); !errors.Is(err, mpi.ErrClosed) {
		return fmt.Errorf("World after the end of MPI = %v, want %v", err, mpi.ErrClosed)
	}
	return nil
}

// TestJobs launches every job on 4 ranks. A job that fails has to end with a
// status other than 0 and with the cause on standard error; one that hangs is
// ended by the limit, which is far above the second or two that it takes.
func TestJobs(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skipf("no %s; make test sets it", launcherVar)
	}
	lost := tooltest.LosesStatus(t, launcher[0])
	for _, j := range jobs() {
		t.Run(j.name, func(t *testing.T) {
			out, err := launch(t, j.name, nil, append(launcher[:len(launcher):len(launcher)], "-n", "4", os.Args[0])...)
			if (err != nil) != j.fails && !j.anyStatus && !(j.exits && lost) {
				t.Errorf("the job ended with %v; it said:\n%s", err, out)
			}
			if !strings.Contains(out, j.ends) {
				t.Errorf("the job said:\n%s\nwant a line with %q", out, j.ends)
			}
		})
	}
}
