//go:build !((linux || darwin) && (amd64 || arm64))

package mpi

import "errors"

// No library is opened on this system, so none of the functions below is called.
const opens = false

func invoke(uintptr, ...uintptr) uintptr { return 0 }

func callback(func()) uintptr { return 0 }

func loaded(string) uintptr { return 0 }

func load(string) error { return errors.ErrUnsupported }

func runBatch(*batch) int { return 0 }

const batchAt = 0

func launcherSocket(func(string) string) *pmiSocket { return nil }

type pmiSocket struct{}

func (*pmiSocket) finalize() bool { return false }

func (*pmiSocket) send(string) bool { return false }
