package mpi

import (
	"syscall"
	"unsafe"
)

// allowedCPUs are the CPUs on which the calling thread may run, ascending; nil
// if the kernel does not tell.
func allowedCPUs() []int {
	// The kernel refuses a mask that is shorter than its own, of which nobody
	// tells the length.
	for words := 16; words <= 1<<14; words *= 4 {
		mask := make([]uintptr, words)
		const wordBits = 8 * unsafe.Sizeof(mask[0])
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, uintptr(words)*wordBits/8, uintptr(unsafe.Pointer(&mask[0])))
		if errno == syscall.EINVAL {
			continue
		}
		if errno != 0 {
			return nil
		}
		var cpus []int
		for i, word := range mask {
			for bit := range int(wordBits) {
				if word>>bit&1 != 0 {
					cpus = append(cpus, i*int(wordBits)+bit)
				}
			}
		}
		return cpus
	}
	return nil
}
