//go:build !(mpi && cgo)

package main

// tagged tells whether the program is linked with its MPI.
const tagged = false
