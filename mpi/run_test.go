//go:build !(mpi && cgo)

package mpi

import (
	"errors"
	"testing"
)

func TestWithoutMPI(t *testing.T) {
	if world, err := World(); world != nil || !errors.Is(err, ErrNotBuilt) {
		t.Errorf("World() = %v, %v, want nil, %v", world, err, ErrNotBuilt)
	}
	err := Run(func(Communicator) error {
		t.Error("Run has called its argument")
		return nil
	})
	if !errors.Is(err, ErrNotBuilt) {
		t.Errorf("Run() = %v, want %v", err, ErrNotBuilt)
	}
}
