package mpi

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"time"
)

// spinPolls is how often a wait polls before it yields, where ranks outnumber the cores. A hundred polls
// leave the round trip of two ranks as it is; without any it takes ten times as long.
const spinPolls = 100

// World is collective over all ranks of the job: it returns a communicator of them, on its own duplicate
// of MPI_COMM_WORLD. If MPI does not run yet, World starts it at MPI_THREAD_FUNNELED, and Close of the
// communicator ends it. World locks the calling goroutine to its thread; all calls have to come from it.
// To be on the main thread, which some libraries need, call runtime.LockOSThread in an init function of
// package main, or use Run there.
//
// The library is, in this order:
//
//   - the one that the process has loaded already, by gompi or by a program in C;
//   - the file that the environment variable TOPOCAST_MPI names;
//   - the library of the launcher, as far as the loader finds it;
//   - another one that the loader finds, the standard ABI's libmpi_abi.so.1 last.
//
// A program that no launcher has started gets ErrNoLauncher, unless TOPOCAST_MPI is set. Under the launcher
// of another library every process would be a job of one rank: World refuses that with ErrLauncher.
//
// If MPI runs already, its thread level has to be MPI_THREAD_FUNNELED or above, and at that level the
// caller has to be on MPI's main thread. The error handler of MPI_COMM_WORLD may matter to whoever has
// started MPI: it is replaced during calls of this package only, as far as they need it.
//
// If World fails on all ranks, it ends the MPI that it has started. If it fails on some only, MPI runs on
// there, and the program has to end by Exit for the job to end.
func World() (*Comm, error) {
	runtime.LockOSThread() // before: libraries keep data per thread
	lib, err := openLibrary(nil)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	c := &Comm{lib: lib, epoch: hostEpoch(), ends: !flag(lib.tc.initialized), limit: finalizeLimit, rank: -1}
	if err := c.start(); err != nil {
		return nil, err
	}
	if err := c.join(); err != nil {
		if c.ends {
			lib.giveUp()
		}
		return nil, err
	}
	return c, nil
}

// start starts MPI, or checks that this thread may use one that runs.
func (c *Comm) start() error {
	fail := func(err error) error { return &Error{"World", -1, -1, -1, err} }
	if !c.ends {
		if c.lib.ours || flag(c.lib.tc.finalized) { // join says that MPI has ended
			return nil
		}
		if err := c.lib.checkThread(); err != nil {
			return fail(err)
		}
		return nil
	}
	hasPMIx := c.lib.find("PMIx_Init") != 0
	if err := checkFamily(c.LibraryVersion(), c.lib.isMPICH, hasPMIx, os.Getenv); err != nil {
		return fail(err)
	}
	handlers := currentFaultHandlers()
	level, code := c.lib.start()
	handlers.restore()
	if code != codeOK {
		return c.fault("World", code, -1, -1)
	}
	if level < c.lib.threadFunneled {
		c.lib.giveUp()
		return fail(fmt.Errorf("%w: it gives thread level %d, where a Go program needs MPI_THREAD_FUNNELED", ErrOther, level))
	}
	return nil
}

// giveUpLimit is how long a World that has failed waits for those of the other ranks to fail, too, so that
// MPI can be ended. If they do not, the error of this rank has to end the job: the process ends by it.
const giveUpLimit = 5 * time.Second

// join is collective: it makes c a communicator of all ranks.
func (c *Comm) join() error {
	if err := c.lib.checkABI(c.lib.commSelf, 0); err != nil {
		return err
	}
	if code := c.lib.world(&c.native); code != codeOK {
		return c.fault("World", code, -1, -1)
	}
	return c.settle("World")
}

// settle is collective: it finds out what c has to know of its ranks.
func (c *Comm) settle(op string) error {
	c.host = text(c.lib.tc.processorName)
	c.rank, c.size = c.native.who()
	if op == "World" && c.size == 1 {
		if err := checkLauncher(c.LibraryVersion(), os.Getenv); err != nil {
			return &Error{op, c.rank, -1, -1, err}
		}
	}
	c.native.spin = spinPolls // until it is known
	oversubscribed, err := c.isOversubscribed()
	if err == nil && !oversubscribed {
		c.native.spin = 0
	}
	return err
}

// isOversubscribed is collective and tells whether ranks have to share CPUs on the machine of this one,
// whatever their containers call it.
func (c *Comm) isOversubscribed() (bool, error) {
	same, err := c.split("World", int(machine(c.host)), 0)
	if err != nil {
		return false, err
	}
	places, err := allPlaces(same, Place{Core: -1, CPUs: allowedCPUs()})
	if err != nil {
		return false, err
	}
	return len(OversubscribedHosts(places)) > 0, same.(*Comm).Close()
}

// machine is a number in [0, 2^31) that ranks have in common if they share a kernel, and so its cores.
// Containers and namespaces of one machine have different host names, but the kernel's boot id is the same
// for all. Two machines with the same number would only make waits yield too early.
func machine(host string) uint32 {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		id = []byte(host)
	}
	h := fnv.New32a()
	h.Write(id)
	return h.Sum32() & math.MaxInt32
}

// Split is collective: ranks with equal color >= 0 form a new communicator, ordered by key and then by old
// rank. A rank with color < 0 gets nil. Split(0, c.Rank()) is a duplicate.
func (c *Comm) Split(color, key int) (Communicator, error) { return c.split("Split", color, key) }

func (c *Comm) split(op string, color, key int) (Communicator, error) {
	if c.closed {
		return nil, c.useAfterClose(op)
	}
	if color > math.MaxInt32 || key > math.MaxInt32 || key < math.MinInt32 {
		return nil, &Error{op, c.rank, -1, -1, fmt.Errorf("color %d or key %d does not fit 32 bits", color, key)}
	}
	part := &Comm{lib: c.lib, host: c.host, epoch: c.epoch}
	part.native.spin = c.native.spin
	if code := c.native.split(color, key, &part.native); code != codeOK {
		return nil, c.fault(op, code, -1, -1)
	}
	if part.native.isNull() {
		return nil, nil
	}
	part.rank, part.size = part.native.who()
	return part, nil
}

// Close is collective. It frees the communicator. If c is the World that started MPI, it waits for all
// ranks and ends MPI; no communicator of the process is usable then. Close of a closed communicator does
// nothing. If MPI_Finalize has not returned two minutes after all ranks are there, Close does not return: it
// says so on standard error and ends the job, with status 0, as all work is done.
//
// Transfers that are still under way keep their buffers for good, since MPI may write into them, and with
// them MPI's side of the communicator. WaitAll then only returns ErrClosed.
func (c *Comm) Close() error {
	if c.closed {
		return nil
	}
	c.arena.free(c.lib)
	if c.ends {
		// Ranks that are done early wait here, where they yield, as long as the others work.
		// MPI_Finalize then has a limit.
		if code := c.native.barrier(); code != codeOK {
			return c.fault("Close", code, -1, -1)
		}
	}
	// MPICH gives the number of a freed communicator to the next one, whose messages would then meet
	// the transfers that were left behind.
	if c.live.close() {
		if code := c.native.free(); code != codeOK {
			return c.fault("Close", code, -1, -1)
		}
	}
	c.closed = true
	if !c.ends {
		return nil
	}
	timer := time.AfterFunc(c.limit+time.Duration(min(c.rank, 3))*betweenRanks, c.leave)
	defer timer.Stop()
	return c.fault("Close", c.lib.end(), -1, -1)
}

// finalizeLimit is how long Close may wait in MPI_Finalize when all ranks are there: far more than it takes.
// MPICH 4.0 over UCX's tcp can wait there for good, in plain C programs, too (pmodels/mpich, pull request 6596).
const finalizeLimit = 2 * time.Minute

// betweenRanks is what launchers take to end a job. The next rank waits so much longer before it ends the
// job as well, so that usually one rank says why.
const betweenRanks = 2 * time.Second

// leave ends the job from within MPI_Finalize. Launchers take a process that leaves without MPI_Finalize
// for a failure, unless it aborts with status 0.
func (c *Comm) leave() {
	fmt.Fprintf(os.Stderr, "rank %d: mpi: all work is done, but MPI_Finalize has not returned within %v: ending the job with status 0\n", c.rank, c.limit)
	time.AfterFunc(abortLimit, func() { os.Exit(0) })
	time.Sleep(lastWords)
	// MPI_Abort ends the job only until MPI_Finalize has taken MPI_COMM_WORLD down, which MPICH 4.0 does before it waits.
	if c.lib.isMPICH && launcherSocket(os.Getenv).send("cmd=abort exitcode=0\n") {
		time.Sleep(betweenRanks / 2) // the launcher kills this process meanwhile
	}
	run(c.lib.tc.abort, c.lib.commWorld, 0)
	os.Exit(0)
}

// Abort ends all ranks of the job. The exit status is code where the launcher passes it on (1 if code is a
// multiple of 256, which a shell would take for success). It does not return.
func (c *Comm) Abort(code int) { c.lib.abort(code) }

// Exit ends the process with a status. Call Exit instead of returning from main or os.Exit. It ends by C's exit(3),
// which runs what libraries have registered to be done at the end: only there does MPICH from version 4.2 on tell
// launchers with PMIx or PMI 2 that the process ends. They take a process that leaves otherwise for a failure.
//
// With a status other than 0 Exit aborts the job where MPI still runs, as after a World that has failed on some
// ranks. MPICH's launcher loses the status of one such process in twenty that leaves by itself (versions up to
// 4.2.1; pmodels/mpich, issue 7057). Without a library Exit is os.Exit.
func Exit(status int) {
	process.Lock()
	lib := process.lib
	process.Unlock()
	if lib != nil {
		if status != 0 && lib.runs() {
			lib.abort(status)
		}
		if exit := lib.find("exit"); exit != 0 {
			invoke(exit, signed(status))
		}
	}
	os.Exit(status)
}
