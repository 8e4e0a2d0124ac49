//go:build !(mpi && cgo)

package mpi

import (
	"errors"
	"os"
	"testing"
)

func TestWithoutLauncher(t *testing.T) {
	if _, why := launchedBy(os.Getenv); why != "" {
		t.Skipf("there is one: %s", why)
	}
	if world, err := World(); world != nil || !errors.Is(err, ErrNoLauncher) {
		t.Errorf("World() = %v, %v, want nil, %v", world, err, ErrNoLauncher)
	}
	err := Run(func(Communicator) error {
		t.Error("Run has called its argument")
		return nil
	})
	if !errors.Is(err, ErrNoLauncher) {
		t.Errorf("Run() = %v, want %v", err, ErrNoLauncher)
	}
}
