//go:build !(mpi && cgo)

package mpi

import "time"

// The methods below have the documentation of the real ones, since this is the
// build that documentation sites show.

// A Comm is a communicator of a real MPI library. It has every ability that
// this package names. Its calls have to come from one thread; World and Run
// lock the goroutine to it.
//
// Built without MPI, there is none: World returns ErrNotBuilt.
type Comm struct{}

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
//
// Built without MPI, it returns ErrNotBuilt.
func World() (*Comm, error) { return nil, ErrNotBuilt }

// Rank is the number of the calling rank.
func (*Comm) Rank() int { return 0 }

// Size is the number of ranks.
func (*Comm) Size() int { return 0 }

// Send sends buf to rank dst. It may block until the message is received:
// up to a few kilobytes the libraries buffer.
func (*Comm) Send(buf []byte, dst, tag int) error { return ErrNotBuilt }

// Ssend sends buf to rank dst, and returns when dst has begun to receive it.
func (*Comm) Ssend(buf []byte, dst, tag int) error { return ErrNotBuilt }

// Recv receives a message of exactly len(buf) bytes from rank src.
func (*Comm) Recv(buf []byte, src, tag int) error { return ErrNotBuilt }

// NewRequests returns an empty set of transfers. On Open MPI with its single
// copy, a message that is longer than the buffer of Irecv overwrites memory
// (see the Design section of the package).
func (*Comm) NewRequests() Requests { return noRequests{} }

// Bcast is collective: it copies buf of rank root into buf of all ranks, with
// MPI_Bcast as the library was told to do it. len(buf) and root are equal on
// all ranks.
func (*Comm) Bcast(buf []byte, root int) error { return ErrNotBuilt }

// Perform performs the steps in their order, in one call of C. On Open MPI with
// its single copy, a message that is longer than its step overwrites memory with
// ahead (see the Design section of the package).
func (*Comm) Perform(buf []byte, steps []Step, tag int, ahead bool) (failed int, err error) {
	return 0, ErrNotBuilt
}

// PingPong exchanges messages of size bytes with rank peer and stores in
// samples[i] the time in seconds of the i-th iters round trips. The loop runs
// in C, on CLOCK_MONOTONIC, with one call from Go for the whole batch.
func (*Comm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	return ErrNotBuilt
}

// Split is collective: ranks with equal color >= 0 form a new communicator,
// ordered by key and then by old rank. A rank with color < 0 gets nil.
func (*Comm) Split(color, key int) (Communicator, error) { return nil, ErrNotBuilt }

// Dup is collective: a communicator of the same ranks in the same order, whose
// messages never match those of c.
func (*Comm) Dup() (Communicator, error) { return nil, ErrNotBuilt }

// Now is the time in seconds by the host's monotonic clock, which all ranks of
// a host share on Linux, read through Go (which is cheaper than MPI_Wtime, and
// as fine).
func (*Comm) Now() float64 { return 0 }

// ProcessorName is the name of the host, as MPI_Get_processor_name tells it.
func (*Comm) ProcessorName() string { return "" }

// Core is the logical CPU to which the rank is bound, or -1.
func (*Comm) Core() int { return -1 }

// CPUs are the logical CPUs of the rank's affinity mask, as launchers set it;
// nil if this is not Linux.
func (*Comm) CPUs() []int { return nil }

// LibraryVersion is the first line of what MPI_Get_library_version tells.
func (*Comm) LibraryVersion() string { return "" }

// LimitFinalize sets how long Close may wait in MPI_Finalize when all ranks are
// there; 0: as long as it takes. Then Close does not return, but ends the job,
// with status 0, as all its work is done, and with one line on standard error.
// It only counts for the World that has started MPI: the one of Run, which has
// set two minutes, or one of World, which has set none. Ranks set the same.
//
// MPICH 4.0 over UCX's tcp can wait there for good, in plain C programs, too: a
// rank whose connections are flushed sits in a barrier of the launcher and no
// longer answers those that still flush (pmodels/mpich, pull request 6596).
func (*Comm) LimitFinalize(limit time.Duration) {}

// Close is collective. It frees the communicator, and ends MPI if c is the
// World that started it; no communicator of the process is usable then.
// (LimitFinalize bounds that.) Close of a closed communicator does nothing.
//
// Transfers that are still under way keep their buffers for good, since MPI may
// write into them, and with them MPI's side of the communicator. WaitAll no
// longer does anything but return ErrClosed.
func (*Comm) Close() error { return ErrNotBuilt }

// Abort ends all ranks of the job; the exit status is code where the launcher
// passes it on (1 if code is a multiple of 256, which a shell would take for
// success). It does not return.
func (*Comm) Abort(code int) { abort(code, func(int) {}) }

// noRequests is the set of a communicator that is none.
type noRequests struct{}

func (noRequests) Isend([]byte, int, int) error { return ErrNotBuilt }
func (noRequests) Irecv([]byte, int, int) error { return ErrNotBuilt }
func (noRequests) WaitAll() error               { return ErrNotBuilt }
