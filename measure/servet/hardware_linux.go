package servet

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bind binds the calling thread to the index-th of the CPUs that it may use, round and round if they are fewer. It
// returns how to undo that. A thread that may use one only stays there.
func bind(index int) (restore func() error, err error) {
	var old unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	if old.Count() <= 1 {
		return func() error { return nil }, nil
	}
	index %= old.Count()
	for cpu := range len(old) * 64 {
		if !old.IsSet(cpu) {
			continue
		}
		if index == 0 {
			var own unix.CPUSet
			own.Set(cpu)
			if err := unix.SchedSetaffinity(0, &own); err != nil {
				return nil, fmt.Errorf("sched_setaffinity: CPU %d: %w", cpu, err)
			}
			break
		}
		index--
	}
	return func() error { return unix.SchedSetaffinity(0, &old) }, nil
}

// allocate gets memory outside Go's heap, which its collector would have to look after, in huge pages if
// there are some: translations of addresses then cost little.
func allocate(bytes int) (memory []byte, free func() error, err error) {
	memory, err = unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE) // a kernel without them gives small ones
	return memory, func() error { return unix.Munmap(memory) }, nil
}
