//go:build !linux

package mpi

// faultHandlers: see signals_linux.go.
type faultHandlers struct{}

func currentFaultHandlers() *faultHandlers { return nil }

func (*faultHandlers) restore() {}
