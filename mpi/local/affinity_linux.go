package local

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

const canPin = true

func allowedCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cores []int
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cores = append(cores, c)
		}
	}
	return cores, nil
}

// pin binds the calling goroutine to a thread of its own, and the thread to a
// core. The thread is never handed back: it ends with the goroutine, so its
// binding reaches nobody else. (New threads of the runtime do not descend from
// a locked one.)
func pin(core int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("sched_setaffinity: core %d: %w", core, err)
	}
	return nil
}

// yieldThread lets other threads of this core run, those of other processes too.
func yieldThread() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
