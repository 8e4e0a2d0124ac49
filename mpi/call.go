//go:build (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// opens tells whether this system can open libraries.
const opens = true

// invoke calls a C function whose arguments are integers and pointers. Pointers to Go memory are
// converted in its argument list, which keeps what they point to alive, and off the stack.
//
//go:uintptrescapes
func invoke(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}

// callback makes a C function of four arguments and a result of 0 that MPI may call. It is never
// freed, so it is made once.
func callback(called func()) uintptr {
	return purego.NewCallback(func(_, _, _, _ uintptr) uintptr {
		called()
		return 0
	})
}

// loaded finds a symbol in what the process has loaded already: 0 if it is not there.
func loaded(name string) uintptr {
	address, _ := purego.Dlsym(purego.RTLD_DEFAULT, name)
	return address
}

// load loads a library for the whole process: the plug-ins of Open MPI look for its symbols there.
func load(file string) error {
	_, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	return err
}

// batchAt is the address of the assembly routine that makes the calls of a batch. C's calling
// convention applies to it.
var batchAt uintptr

// cgocall calls a C function of one pointer argument, as calls by cgo do, and returns its result.
// Package purego calls by the same function of the runtime. Without purego's block of 32 arguments
// and its pool, a call costs about half.
//
//go:linkname cgocall runtime.cgocall
func cgocall(function uintptr, argument unsafe.Pointer) int32

// runBatch makes the calls of a batch, and returns how many it has not made.
func runBatch(b *batch) int { return int(cgocall(batchAt, unsafe.Pointer(b))) }
