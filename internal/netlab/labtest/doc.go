// Package labtest has the tests and benchmarks that run MPI jobs on emulated clusters. Its test binary is the program whose ranks they
// run, too (ranks_test.go).
package labtest
