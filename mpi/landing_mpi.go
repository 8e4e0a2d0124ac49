//go:build mpi && cgo

package mpi

/*
#include <stddef.h>
#include <sys/mman.h>

// Addresses for the longest message, 2^31-1 bytes, without memory behind them.
enum { TC_LANDING = 0x80000000L };

static inline void *tc_land(void) {
#ifdef MAP_NORESERVE
	void *p = mmap(NULL, TC_LANDING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
#else
	return NULL;
#endif
}

static inline void tc_unland(void *p) { munmap(p, TC_LANDING); }
*/
import "C"

import (
	"bytes"
	"os"
	"unsafe"
)

// A landing is where a library that writes past the end of a buffer (tc_overruns)
// can do no harm: more addresses than any message has bytes. Memory is only behind
// those that were written, so behind one page as long as all lengths agree. The
// communicators of a world share one.
type landing struct {
	p     unsafe.Pointer
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
	p := C.tc_land()
	if p == nil {
		return nil
	}
	return &landing{p: p}
}

// share counts one more communicator, and returns the address for it; nil for no
// landing.
func (l *landing) share() unsafe.Pointer {
	if l == nil {
		return nil
	}
	l.users++
	return l.p
}

// leave counts one communicator less.
func (l *landing) leave() {
	if l == nil {
		return
	}
	if l.users--; l.users == 0 {
		C.tc_unland(l.p)
	}
}
