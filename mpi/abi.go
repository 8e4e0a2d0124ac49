//go:build !(mpi && cgo)

package mpi

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// An abi is what the header file of a library says, and programs have compiled in: the values of
// handles and constants, and the layout of MPI_Status. There is one for each library that is known
// (abi_openmpi.go, abi_mpich.go).
type abi struct {
	name string // of the libraries that have it

	// Handles. MPICH's are of 4 bytes, the lower ones of these.
	handleBytes                                          int
	commWorld, commSelf, commNull, byteType, requestNull uintptr
	errorsReturn, copyNothing                            uintptr

	numbers    [Float64 + 1]uintptr // by NumberType
	reductions [Max + 1]uintptr

	// Classes of errors.
	errRank, errRoot, errTag, errCount, errTruncate int32

	// MPI_Status: its size, and where its fields are.
	statusBytes, source, tag int
	counted                  int // where 64 bits are the count of what was not cancelled, if it is below 2^31
	count                    func(status []byte) int64

	// overruns: a message that is too long may be written past the end of a buffer, unless the
	// control variable of this name has the value. "": never.
	overruns    string
	overrunsNot int32
}

// Constants that the known libraries have in common.
const (
	undefined = -32766
	textRoom  = 8192 // at least MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_ERROR_STRING and MPI_MAX_PROCESSOR_NAME
)

// A resolver finds a symbol of the library, or returns 0.
type resolver func(name string) uintptr

type symbol struct {
	name    string
	address *uintptr
}

// all finds all of some symbols.
func (find resolver) all(symbols []symbol) error {
	for _, s := range symbols {
		if *s.address = find(s.name); *s.address == 0 {
			return fmt.Errorf("the MPI library has no symbol %s", s.name)
		}
	}
	return nil
}

// tellABI tells which ABI a library has, by its symbols and by what it says of itself: its version, and
// that of the standard ABI, if it has that.
func tellABI(version, standard string, find resolver) (*abi, error) {
	hasSymbols := find("ompi_mpi_comm_world") != 0
	switch {
	case standard != "":
		return nil, fmt.Errorf("the library (%s) has the standard ABI %s of MPI 5, which no library to test with has yet; name the usual one by %s, or build with CC=mpicc go build -tags mpi",
			firstLine(version), standard, libraryVar)
	case hasSymbols && strings.HasPrefix(version, "Open MPI"):
		return openMPI(find)
	case !hasSymbols && hasABIOfMPICH(version):
		return mpich(), nil
	}
	return nil, fmt.Errorf("the library says %q: it is neither Open MPI nor of MPICH's ABI, the two that are known here; build with CC=mpicc go build -tags mpi", firstLine(version))
}

func int32At(status []byte, at int) int32 { return int32(binary.NativeEndian.Uint32(status[at:])) }
