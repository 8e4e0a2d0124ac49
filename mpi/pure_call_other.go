//go:build !(mpi && cgo) && !((linux || darwin) && (amd64 || arm64))

package mpi

import "errors"

// Here no library is opened, so none of the functions below is called.
const opens = false

func invoke(uintptr, ...uintptr) uintptr { return 0 }

func callback(func()) uintptr { return 0 }

func loaded(string) uintptr { return 0 }

func load(string) error { return errors.ErrUnsupported }

const batchAt = 0
