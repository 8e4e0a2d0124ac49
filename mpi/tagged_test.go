//go:build mpi && cgo

package mpi_test

// tagged tells whether the program is linked with its MPI.
const tagged = true
