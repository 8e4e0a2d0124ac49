package mpi

import "unsafe"

// What differs between the builds is below this line: a library, which the process has one of, and
// endpoints, its communicators. With the tag mpi they are the wrappers of shim.h, compiled with the
// library's own headers (cgo_*.go); without it, calls into a library that is found when the program
// starts (pure_*.go). Both are types of their own, not implementations of an interface, so that calls
// are direct; the interfaces below only say what they have in common.

var (
	_ nativeLibrary  = (*library)(nil)
	_ nativeEndpoint = (*endpoint)(nil)
)

type nativeLibrary interface {
	started() bool              // by whomever
	start() (level int, _ code) // MPI_Init_thread, with threadFunneled
	world(*endpoint) code       // a duplicate of the world's, which is nil of a library that has ended
	giveUp()                    // ends MPI if the other ranks give up, too
	finalize() code
	abort(status int) // on any thread, also while finalize hangs
	leave()           // ends the job with status 0 from within finalize, on any thread
	isMPICH() bool

	version() string // all lines
	processor() string
	explain(code) (text string, class error)
	overruns() bool // a message that is too long is written past the end of a buffer

	callCost() float64 // what Go adds to a call; s
	loopCost() float64 // the same in the loop of pingPong

	pages(n int) unsafe.Pointer // memory that is none of Go's, written once; nil: there is none
	free(pages unsafe.Pointer)
}

type nativeEndpoint interface {
	who() (rank, size int)
	split(color, key int, part *endpoint) code // color < 0: none
	isNull() bool
	drop() code // frees the communicator
	meet() code // a barrier that yields

	send(buf []byte, dst, tag int) code
	ssend(buf []byte, dst, tag int) code
	recv(buf []byte, src, tag int) result
	bcast(buf []byte, root int) code

	// These overwrite the request if they return codeOK. The caller keeps the buffer.
	isend(buf []byte, dst, tag int, r *request) code
	irecv(buf []byte, src, tag int, r *request) code
	ibcast(buf []byte, root int, r *request) code

	// These complete requests whose results are pending, and give each its own result.
	waitAll([]request, []result) code
	waitAny([]request, []result) int // the index; their number: none is pending; below 0: a code
	testAll([]request, []result) int // how many are left; below 0: a code

	perform(buf []byte, steps []Step, tag int, ahead bool) performed
	pingPong(buf unsafe.Pointer, size, peer, tag int, first bool, iters int, samples []float64) result
}

// threadFunneled is MPI_THREAD_FUNNELED in all known libraries.
const threadFunneled = 1

// A code is what calls of MPI return, or one of ours. No code of MPI is negative.
type code int32

const (
	codeOK      code = 0
	codeEnded   code = -1 // MPI has been finalised, and would end the process on any call
	codePending code = -2 // of a request that is not complete
)

// A result is how a receive has ended.
type result struct {
	code  code
	count int32 // bytes received; -1 if that does not apply
}

// performed tells how steps went: the step that failed, and how. Its code is codeOK for a message
// that is too short, of so many bytes.
type performed struct {
	step     int // their number: none has failed
	code     code
	count    int32
	stranded bool // transfers are under way for good
}

// waiting is how an endpoint waits, and receives.
type waiting struct {
	spin    int32          // polls before a wait yields; 0: the library waits itself
	guarded bool           // the library overruns buffers
	landing unsafe.Pointer // if guarded: room for the longest message there is; nil: none
}
