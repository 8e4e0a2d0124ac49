//go:build !linux

package main

import (
	"fmt"
	"os"

	"github.com/topocast/topocast/internal/netlab"
)

func main() {
	fmt.Fprintln(os.Stderr, netlab.ErrUnavailable)
	os.Exit(1)
}
