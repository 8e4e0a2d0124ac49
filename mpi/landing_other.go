//go:build !linux

package mpi

import "unsafe"

// landing: see landing_linux.go. Here nobody tells whether addresses are free.
type landing struct{}

func newLanding() *landing { return nil }

func (*landing) share() unsafe.Pointer { return nil }

func (*landing) leave() {}
