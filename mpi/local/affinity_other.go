//go:build !linux

package local

import (
	"fmt"
	"runtime"
)

const canPin = false

func allowedCores() ([]int, error) {
	cores := make([]int, runtime.NumCPU())
	for i := range cores {
		cores[i] = i
	}
	return cores, nil
}

func pin(int) error {
	return fmt.Errorf("threads cannot be bound to cores on %s", runtime.GOOS)
}

func yieldThread() { runtime.Gosched() }
