package main

import (
	"fmt"
	"os"
)

// main is not called in the library: the process has the program's. It is for those who take the library for a command.
func main() {
	fmt.Fprintln(os.Stderr, "preload is a library for MPI programs on Linux: build it by make preload")
	os.Exit(1)
}
