package mpi

// coreOf is the CPU of a mask that has one, else -1.
func coreOf(cpus []int) int {
	if len(cpus) == 1 {
		return cpus[0]
	}
	return -1
}
