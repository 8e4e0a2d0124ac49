//go:build !linux

package mpi

import "time"

// steadyClock is CLOCK_UPTIME_RAW of macOS, whose CLOCK_MONOTONIC counts microseconds.
const steadyClock = 8

// hostEpoch is any moment: the ranks' clocks differ.
func hostEpoch() time.Time { return time.Now() }
