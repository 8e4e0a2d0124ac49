//go:build !(mpi && cgo) && (linux || darwin) && (amd64 || arm64)

package mpi

import "github.com/ebitengine/purego"

// opens tells whether this build can open libraries.
const opens = true

// invoke calls a C function whose arguments are integers and pointers. Pointers to Go memory are
// converted in its argument list, which keeps what they point to alive, and off the stack.
//
//go:uintptrescapes
func invoke(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}

// callback makes a C function of three arguments and a result of 0 that MPI may call. It is never
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

// batchAt is where the function in assembly is that makes the calls of a batch.
var batchAt uintptr
