//go:build !linux

package mpi

import "time"

// allowedCPUs are not known here.
func allowedCPUs() []int { return nil }

// steadyClock is CLOCK_UPTIME_RAW of macOS, whose CLOCK_MONOTONIC counts microseconds.
const steadyClock = 8

// hostEpoch is any moment: the ranks' clocks differ.
func hostEpoch() time.Time { return time.Now() }

// faultHandlers: see signals_linux.go.
type faultHandlers struct{}

func currentFaultHandlers() *faultHandlers { return nil }

func (*faultHandlers) restore() {}
