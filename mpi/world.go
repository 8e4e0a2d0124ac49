package mpi

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"time"
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
// Which MPI that is: with the tag mpi, the one that the program is linked with. Without, the one that
// the process has loaded already; else the library of the launcher, which its variables in the
// environment tell (OMPI_..., PMI_..., PMIX_...), as far as the loader finds it, or another one that it
// finds; TOPOCAST_MPI=file overrules that. A program that was started without a launcher then gets
// ErrNoLauncher; with the tag it is a job of one rank.
//
// Under the launcher of another library every process would be a job of one
// rank. World refuses that, by what launchers put into the environment.
//
// A rank that is bound to one core runs Go code on one thread (GOMAXPROCS), which Go's monitor takes from a call of C that waits
// for 20 us, unless there is room for another thread: World makes that room (GOMAXPROCS 2) where the environment
// does not set GOMAXPROCS. A program that wants another value sets it afterwards.
//
// If MPI runs already, its starter may rely on the error handler of MPI_COMM_WORLD: that is
// replaced during calls of this package only, as far as they need it. Else errors of that
// communicator return, as those of all of this package do.
func World() (*Comm, error) {
	runtime.LockOSThread() // before: libraries have words of their own for each thread
	lib, err := openLibrary()
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	leaveSpareProc()
	c := &Comm{lib: lib, epoch: hostEpoch(), ends: !lib.started(), rank: -1}
	if c.ends {
		handlers := currentFaultHandlers()
		level, code := lib.start()
		handlers.restore()
		if code != codeOK {
			return nil, c.fault("World", code, -1, -1)
		}
		if level < threadFunneled {
			lib.giveUp()
			return nil, &Error{"World", -1, -1, -1, fmt.Errorf("%w: it gives thread level %d, where a Go program needs MPI_THREAD_FUNNELED", ErrOther, level)}
		}
	}
	if err := c.join(); err != nil {
		if c.ends {
			lib.giveUp()
		}
		return nil, err
	}
	return c, nil
}

// leaveSpareProc sees to it that Go has a P to spare while this rank waits in C. If it has none, its monitor retakes the P of
// the call after 20 us, starts a thread that polls the network, and falls asleep, out of which the end of the call wakes
// it: all of that on the rank's own core, at each message. With one to spare it leaves calls of up to 10 ms alone (Go 1.26,
// retake and sysmon in runtime/proc.go).
func leaveSpareProc() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
}

// giveUpLimit is how long a World that has failed waits for those of the other
// ranks to fail, too, so that MPI can be ended. When they do not, the error of
// this one has to end the job, as it then ends the process.
const giveUpLimit = 5 * time.Second

// join makes c a communicator of all ranks.
func (c *Comm) join() error {
	if err := c.lib.check(); err != nil {
		return err
	}
	if code := c.lib.world(&c.native); code != codeOK {
		return c.fault("World", code, -1, -1)
	}
	return c.settle("World")
}

// settle is collective: it finds out what c has to know of its ranks and of the library.
func (c *Comm) settle(op string) error {
	c.host = c.lib.processor()
	c.rank, c.size = c.native.who()
	if op == "World" && c.size == 1 {
		if err := checkLauncher(c.LibraryVersion(), os.Getenv); err != nil {
			return &Error{op, c.rank, -1, -1, err}
		}
	}
	if c.native.guarded = c.lib.overruns(); c.native.guarded {
		c.landing = newLanding()
		c.native.landing = c.landing.share()
	}
	c.native.spin = spinPolls // until it is known
	crowded, err := c.isCrowded()
	if err == nil && !crowded {
		c.native.spin = 0
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
	part := &Comm{lib: c.lib, host: c.host, epoch: c.epoch}
	part.native.waiting = c.native.waiting
	if code := c.native.split(color, key, &part.native); code != codeOK {
		return nil, c.fault(op, code, -1, -1)
	}
	if part.native.isNull() {
		return nil, nil
	}
	part.rank, part.size = part.native.who()
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
	c.arena.free(c.lib)
	if c.ends {
		// Ranks that are done early wait here, where they yield, and as long as
		// the others work; MPI_Finalize then has a limit.
		if code := c.native.meet(); code != codeOK {
			return c.fault("Close", code, -1, -1)
		}
	}
	// MPICH gives the number of a freed communicator to the next one, whose
	// messages would then meet the transfers that were left behind.
	if c.live.close() {
		if code := c.native.drop(); code != codeOK {
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
	return c.fault("Close", c.lib.finalize(), -1, -1)
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
	if c.lib.askLauncher(os.Getenv) {
		time.Sleep(leaveStep / 2) // the launcher kills this process meanwhile
	}
	c.lib.leave()
	os.Exit(0)
}

// Abort ends all ranks of the job; the exit status is code where the launcher
// passes it on (1 if code is a multiple of 256, which a shell would take for
// success). It does not return.
func (c *Comm) Abort(code int) {
	abort(code, c.lib.abort)
}
