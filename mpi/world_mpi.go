//go:build mpi && cgo

package mpi

/*
#include "shim.h"
#include <stdlib.h>
#include <string.h>

// The thread level is the least that the standard allows a Go program, whose
// goroutines have threads. Open MPI makes a round trip between cores some 20 %
// slower for it than at MPI_THREAD_SINGLE.
static inline int tc_start(int *provided) {
	return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided);
}

static inline int tc_started(void) {
	int started = 0;
	MPI_Initialized(&started);
	return started;
}

// tc_meet returns when all ranks have called it.
static inline int tc_meet(MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	MPI_Status status;
	int code = MPI_Ibarrier(comm, &request);
	return code != MPI_SUCCESS ? code : tc_wait(&request, &status, spin);
}

static inline int tc_finalize(void) { return MPI_Finalize(); }

// tc_give_up ends MPI if all ranks give up within so many nanoseconds. One that
// is alone would wait in MPI_Finalize for the others, which go on.
static inline void tc_give_up(int64_t limit) {
	MPI_Request request;
	int done = 0;
	if (tc_ended() || MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return;
	for (int64_t start = tc_now(); !done; sched_yield())
		if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || tc_now() - start > limit)
			return;
	MPI_Finalize();
}

// tc_leave ends the job with status 0 from within MPI_Finalize, on any thread.
static inline void tc_leave(void) { MPI_Abort(MPI_COMM_WORLD, 0); }

// tc_abort still aborts while MPI_Finalize hangs.
static inline void tc_abort(int code) {
	int ended = 0;
	MPI_Finalized(&ended);
	if (!ended)
		MPI_Abort(MPI_COMM_WORLD, code);
}

// MPICH 4.0.2 aborts on an error of MPI_Wait unless the world, too, returns
// its errors, so both handlers are set.
static inline int tc_dup_world(MPI_Comm *comm) {
	int code = tc_watch_end();
	if (code != MPI_SUCCESS)
		return code;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	code = MPI_Comm_dup(MPI_COMM_WORLD, comm);
	if (code == MPI_SUCCESS)
		MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
	return code;
}

// A negative color is that of a rank in no group; its communicator is null.
static inline int tc_split(MPI_Comm parent, int color, int key, MPI_Comm *comm) {
	if (tc_ended())
		return TC_ENDED;
	int code = MPI_Comm_split(parent, color < 0 ? MPI_UNDEFINED : color, key, comm);
	if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL)
		MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
	return code;
}

static inline int tc_is_null(MPI_Comm comm) { return comm == MPI_COMM_NULL; }

static inline int tc_free(MPI_Comm *comm) { return tc_ended() ? TC_ENDED : MPI_Comm_free(comm); }
*/
import "C"

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"time"
	"unsafe"
)

// spinPolls is how often a wait polls before it yields, where ranks outnumber
// the cores. A hundred polls leave the round trip of two ranks as it is; none
// at all makes it ten times slower.
const spinPolls = 100

// World is collective over all ranks of the job: it returns a communicator of
// them, on its own duplicate of MPI_COMM_WORLD. If MPI does not run yet, World
// starts it (MPI_THREAD_FUNNELED), and Close of the communicator ends it. It
// locks the calling goroutine to its thread; all calls have to come from it.
// To be on the main thread, which some libraries want, call
// runtime.LockOSThread in an init function of package main, or use Run there.
//
// If World fails on all ranks, it ends the MPI that it has started; if only on
// some, MPI runs on there, and the program has to end for the job to end.
//
// Under the launcher of another library every process would be a job of one
// rank. World refuses that, by what launchers put into the environment; a program
// started without a launcher is a job of one rank, too, but a rightful one.
//
// World lets MPI_COMM_WORLD return its errors instead of ending the job. An
// application that shares the process and does not look at return codes
// (gompi does not) then no longer notices its own; Wrap serves that case.
func World() (*Comm, error) {
	runtime.LockOSThread()
	c := &Comm{epoch: hostEpoch(), ends: C.tc_started() == 0, rank: -1}
	if c.ends {
		var provided C.int
		if code := C.tc_start(&provided); code != C.MPI_SUCCESS {
			return nil, c.fault("World", code, -1, -1)
		}
		if provided < C.MPI_THREAD_FUNNELED {
			C.tc_give_up(C.int64_t(giveUpLimit))
			return nil, &Error{"World", -1, -1, -1, fmt.Errorf("%w: it gives thread level %d, where a Go program needs MPI_THREAD_FUNNELED", ErrOther, provided)}
		}
	}
	if err := c.join(); err != nil {
		if c.ends {
			C.tc_give_up(C.int64_t(giveUpLimit))
		}
		return nil, err
	}
	return c, nil
}

// giveUpLimit is how long a World that has failed waits for those of the other
// ranks to fail, too, so that MPI can be ended. When they do not, the error of
// this one has to end the job, as it then ends the process.
const giveUpLimit = 5 * time.Second

// join makes c a communicator of all ranks.
func (c *Comm) join() error {
	if code := C.tc_dup_world(&c.comm); code != C.MPI_SUCCESS {
		return c.fault("World", code, -1, -1)
	}
	return c.settle("World")
}

// settle is collective: it finds out what c has to know of its ranks and of the library.
func (c *Comm) settle(op string) error {
	name := make([]byte, C.MPI_MAX_PROCESSOR_NAME)
	var n C.int
	C.MPI_Get_processor_name((*C.char)(unsafe.Pointer(unsafe.SliceData(name))), &n)
	c.host = string(name[:n])
	c.describe()
	if c.size == 1 {
		if err := checkLauncher(c.LibraryVersion(), os.Getenv); err != nil {
			return &Error{op, c.rank, -1, -1, err}
		}
	}
	c.guard.overruns = C.tc_overruns()
	if c.guard.overruns != 0 {
		c.landing = newLanding()
		c.guard.landing = c.landing.share()
	}
	c.spin = spinPolls // until it is known
	crowded, err := c.isCrowded()
	if err == nil && !crowded {
		c.spin = 0
	}
	return err
}

// isCrowded is collective and tells whether ranks have to share CPUs on the
// machine of this one, whatever their containers call it.
func (c *Comm) isCrowded() (bool, error) {
	same, err := c.split("World", int(machine(c.host)), 0)
	if err != nil {
		return false, err
	}
	places, err := allPlaces(same, Place{Core: -1, CPUs: c.CPUs()})
	if err != nil {
		return false, err
	}
	return len(CrowdedHosts(places)) > 0, same.(*Comm).Close()
}

// describe asks MPI for rank and size.
func (c *Comm) describe() {
	var rank, size C.int
	C.MPI_Comm_rank(c.comm, &rank)
	C.MPI_Comm_size(c.comm, &size)
	c.rank, c.size = int(rank), int(size)
}

// machine is a number in [0, 2^31) that ranks have in common if they share a
// kernel, and so its cores: containers and namespaces of one machine have
// different host names, but the kernel's boot id is the same for all. Two
// machines with the same number would only make waits yield too early.
func machine(host string) uint32 {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		id = []byte(host)
	}
	h := fnv.New32a()
	h.Write(id)
	return h.Sum32() & math.MaxInt32
}

// Split is collective: ranks with equal color >= 0 form a new communicator,
// ordered by key and then by old rank. A rank with color < 0 gets nil.
func (c *Comm) Split(color, key int) (Communicator, error) {
	if color > math.MaxInt32 || key > math.MaxInt32 || key < math.MinInt32 {
		return nil, &Error{"Split", c.rank, -1, -1, fmt.Errorf("color %d or key %d does not fit 32 bits", color, key)}
	}
	return c.split("Split", color, key)
}

// split does the work of Split and Dup.
func (c *Comm) split(op string, color, key int) (Communicator, error) {
	if c.closed {
		return nil, c.useAfterClose(op)
	}
	part := &Comm{spin: c.spin, guard: c.guard, host: c.host, epoch: c.epoch}
	if code := C.tc_split(c.comm, C.int(max(color, -1)), C.int(key), &part.comm); code != C.MPI_SUCCESS {
		return nil, c.fault(op, code, -1, -1)
	}
	if C.tc_is_null(part.comm) != 0 {
		return nil, nil
	}
	part.describe()
	part.landing = c.landing
	part.landing.share()
	return part, nil
}

// Dup is collective: a communicator of the same ranks in the same order, whose
// messages never match those of c.
func (c *Comm) Dup() (Communicator, error) {
	// As MPI_Comm_dup, but for attributes, of which there are none.
	return c.split("Dup", 0, c.rank)
}

// Core is the logical CPU to which the rank is bound, or -1.
func (c *Comm) Core() int { return coreOf(allowedCPUs()) }

// CPUs are the logical CPUs of the rank's affinity mask, as launchers set it;
// nil if this is not Linux.
func (c *Comm) CPUs() []int { return allowedCPUs() }

// Close is collective. It frees the communicator, and ends MPI if c is the
// World that started it; no communicator of the process is usable then.
// (LimitFinalize bounds that.) Close of a closed communicator does nothing.
//
// Transfers that are still under way keep their buffers for good, since MPI may
// write into them, and with them MPI's side of the communicator. WaitAll no
// longer does anything but return ErrClosed.
func (c *Comm) Close() error {
	if c.closed {
		return nil
	}
	c.arena.free()
	if c.ends {
		// Ranks that are done early wait here, where they yield, and as long as
		// the others work; MPI_Finalize then has a limit.
		if code := C.tc_meet(c.comm, c.spin); code != C.MPI_SUCCESS {
			return c.fault("Close", code, -1, -1)
		}
	}
	// MPICH gives the number of a freed communicator to the next one, whose
	// messages would then meet the transfers that were left behind.
	if c.live.close() {
		if code := C.tc_free(&c.comm); code != C.MPI_SUCCESS {
			return c.fault("Close", code, -1, -1)
		}
	}
	c.closed = true
	c.landing.leave()
	if !c.ends {
		return nil
	}
	if c.limit > 0 {
		timer := time.AfterFunc(c.limit+time.Duration(min(c.rank, 3))*leaveStep, func() { c.leave() })
		defer timer.Stop()
	}
	return c.fault("Close", C.tc_finalize(), -1, -1)
}

// LimitFinalize sets how long Close may wait in MPI_Finalize when all ranks are
// there; 0: as long as it takes. Then Close does not return, but ends the job,
// with status 0, as all its work is done, and with one line on standard error.
// It only counts for the World that has started MPI: the one of Run, which has
// set two minutes, or one of World, which has set none. Ranks set the same.
//
// MPICH 4.0 over UCX's tcp can wait there for good, in plain C programs, too: a
// rank whose connections are flushed sits in a barrier of the launcher and no
// longer answers those that still flush (pmodels/mpich, pull request 6596).
func (c *Comm) LimitFinalize(limit time.Duration) { c.limit = max(limit, 0) }

// leaveStep lets rank 0 end the job before the next rank would, and so on, so
// that one of them says so.
const leaveStep = 2 * time.Second

// leave ends the job from within MPI_Finalize. The launchers take a process that
// leaves without MPI_Finalize for a failure, unless it aborts with status 0.
func (c *Comm) leave() {
	fmt.Fprintf(os.Stderr, "rank %d: mpi: all work is done, but MPI_Finalize has not returned within %v: ending the job with status 0\n", c.rank, c.limit)
	time.AfterFunc(abortLimit, func() { os.Exit(0) })
	time.Sleep(lastWords)
	if askLauncher() {
		time.Sleep(leaveStep / 2) // the launcher kills this process meanwhile
	}
	C.tc_leave()
	os.Exit(0)
}

// Abort ends all ranks of the job; the exit status is code where the launcher
// passes it on (1 if code is a multiple of 256, which a shell would take for
// success). It does not return.
func (c *Comm) Abort(code int) {
	abort(code, func(code int) { C.tc_abort(C.int(code)) })
}
