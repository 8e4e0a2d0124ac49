package mpi

import (
	"syscall"
	"unsafe"
)

// faultHandlers are the handlers of the signals that faults of a program raise, as the kernel has them.
// Go turns SIGSEGV of a nil pointer into a panic. Libraries that are loaded later may set their own,
// which end the process: UCX does, below MPICH and Open MPI, and takes SIGHUP, too, to be debugged by it.
type faultHandlers [len(faults)][8]uint64 // of which the kernel uses 4

var faults = [...]syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGHUP}

const signalSetBytes = 8

func currentFaultHandlers() *faultHandlers {
	h := new(faultHandlers)
	for i, s := range faults {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&h[i])), signalSetBytes, 0, 0)
	}
	return h
}

// restore sets them again.
func (h *faultHandlers) restore() {
	for i, s := range faults {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&h[i])), 0, signalSetBytes, 0, 0)
	}
}
