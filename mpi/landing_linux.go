package mpi

import (
	"bytes"
	"math"
	"os"
	"syscall"
	"unsafe"
)

// A landing is where a library that writes past the end of a buffer (library.overruns)
// can do no harm: more addresses than any message has bytes. Memory is only behind
// those that were written, so behind one page as long as all lengths agree. The
// communicators of a world share one.
type landing struct {
	room  []byte
	users int
}

// newLanding returns nil where addresses are counted like memory: because the
// process has a limit of them, or because the kernel never hands out more than
// there is. Recv then looks at the length first.
func newLanding() *landing {
	const policy = "/proc/sys/vm/overcommit_memory" // 2: never
	if text, err := os.ReadFile(policy); err != nil || bytes.HasPrefix(text, []byte("2")) {
		return nil
	}
	longest := int64(math.MaxInt32) // and a byte: on 32 bits, a length that Mmap refuses
	room, err := syscall.Mmap(-1, 0, int(longest+1), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return &landing{room: room}
}

// share counts one more communicator, and returns the address for it; nil for no
// landing.
func (l *landing) share() unsafe.Pointer {
	if l == nil {
		return nil
	}
	l.users++
	return unsafe.Pointer(unsafe.SliceData(l.room))
}

// leave counts one communicator less.
func (l *landing) leave() {
	if l == nil {
		return
	}
	if l.users--; l.users == 0 {
		syscall.Munmap(l.room) // which it can, as it is whole
	}
}
