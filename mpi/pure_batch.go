//go:build !(mpi && cgo)

package mpi

import "unsafe"

// A batch makes calls of C functions one after the other, in one call from Go: a call of its own costs
// more than a short message's software, and while one waits, Go's scheduler has to find other work for
// the thread. What is between the calls is in assembly (pure_batch_*.s), which C calls as one of its own.
type batch struct {
	calls   uintptr // where they are
	n       uintptr // how many; at least 1
	rounds  uintptr // how often all of them are made; at least 1
	polls   uintptr // of a call that is made again: so many before yield is called in between
	yield   uintptr
	code    int32 // what the last call has returned
	pending []batchCall
	at      [1]uintptr // where the batch is: kept, as another list of arguments would be garbage
}

// A batchCall is one of a C function, whose arguments are integers and pointers.
type batchCall struct {
	function uintptr
	args     [7]uintptr
	fine     uintptr // the result, of 32 bits, that lets the batch go on; MPI's is MPI_SUCCESS, 0
	flag     uintptr // where it stores an int32: the call is made again until that is not 0; 0: it is made once
	word     uintptr // where 64 bits have to be wanted after it; 0: none have to
	wanted   uintptr
	step     int // that it belongs to, of a schedule
}

// add adds a call. What is returned is in its place until the next one is added.
func (b *batch) add(step int, function uintptr, args ...uintptr) *batchCall {
	b.pending = append(b.pending, batchCall{function: function, step: step})
	c := &b.pending[len(b.pending)-1]
	copy(c.args[:], args)
	return c
}

// ready tells C where the calls are.
func (b *batch) ready() {
	b.calls, b.n = uintptr(unsafe.Pointer(unsafe.SliceData(b.pending))), uintptr(len(b.pending))
}

// run makes the calls, and empties the batch. It returns the call at which it stopped, nil if it made all: one with
// a result that is not fine, which is in code, or with a word that is not the wanted one.
func (b *batch) run() *batchCall {
	if len(b.pending) == 0 {
		return nil
	}
	b.ready()
	b.at[0] = uintptr(unsafe.Pointer(b))
	var stopped *batchCall
	if left := int(invoke(batchAt, b.at[:]...)); left > 0 { // which lets b escape to the heap
		stopped = &b.pending[len(b.pending)-left]
	}
	b.pending = b.pending[:0]
	return stopped
}
