//go:build !(gompi && cgo)

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "gompi is not built in: build with CC=mpicc go build -tags gompi, and start with mpirun")
	os.Exit(1)
}
