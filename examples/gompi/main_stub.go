//go:build !((mpi || gompi) && cgo)

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "gompi is not built in: build with CC=mpicc go build -tags mpi, and start with mpirun")
	os.Exit(1)
}
