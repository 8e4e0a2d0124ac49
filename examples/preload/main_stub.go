//go:build !mpi || !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "preload is a library for MPI's programs: build it by make preload, with the MPI library's own compiler")
	os.Exit(1)
}
