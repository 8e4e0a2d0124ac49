//go:build !linux

package mpi

// allowedCPUs are not known here.
func allowedCPUs() []int { return nil }
