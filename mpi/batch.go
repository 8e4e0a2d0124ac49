package mpi

import "unsafe"

// A batch makes calls of C functions one after the other, in one call from Go.
//
// A call from Go costs more than the overhead of a short message. While one call waits, Go's
// scheduler looks for other work for the thread. So lists of calls, and the looks at their results
// in between, are made by a routine in assembly (batch_*.s), which is itself a C function.
type batch struct {
	calls   uintptr // address of the first call
	n       uintptr // number of calls, at least 1
	rounds  uintptr // how often all of them are made, at least 1
	polls   uintptr // how often a call is repeated before yield is called in between
	yield   uintptr // address of sched_yield
	code    int32   // result of the last call
	pending []batchCall
}

// A batchCall is a call of a C function whose arguments are integers and pointers.
type batchCall struct {
	function uintptr
	args     [7]uintptr
	fine     uintptr // the result, of 32 bits, after which the batch goes on; 0 is MPI_SUCCESS
	flag     uintptr // address of an int32: the call is repeated until that is not 0; 0: it is made once
	word     uintptr // address of 64 bits that have to be equal to wanted after the call; 0: none
	wanted   uintptr
	step     int // index of the schedule's step to which the call belongs
}

// add adds a call of at most seven arguments. The result is valid until the next call is added.
func (b *batch) add(step int, function uintptr, args ...uintptr) *batchCall {
	b.pending = append(b.pending, batchCall{function: function, step: step})
	c := &b.pending[len(b.pending)-1]
	copy(c.args[:], args)
	return c
}

// ready stores the address of the calls where the routine in assembly looks for it.
func (b *batch) ready() {
	b.calls, b.n = uintptr(unsafe.Pointer(unsafe.SliceData(b.pending))), uintptr(len(b.pending))
}

// run makes the calls, and empties the batch. It returns the call at which the batch stopped, or nil
// if all were made. A batch stops at a result that is not fine, which is in code, and at a word that
// is not the wanted one.
func (b *batch) run() *batchCall {
	if len(b.pending) == 0 {
		return nil
	}
	b.ready()
	var stopped *batchCall
	if left := runBatch(b); left > 0 {
		stopped = &b.pending[len(b.pending)-left]
	}
	b.pending = b.pending[:0]
	return stopped
}
