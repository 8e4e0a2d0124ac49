//go:build !(mpi && cgo)

package main

import (
	"fmt"
	"os"

	"github.com/topocast/topocast/mpi"
)

func main() {
	fmt.Fprintln(os.Stderr, mpi.ErrNotBuilt)
	os.Exit(1)
}
