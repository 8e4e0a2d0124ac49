package mpi

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
)

// An abi is what the header file of a library says and programs have compiled in: the values of handles
// and constants, and the layout of MPI_Status. There is one table per ABI: abi_openmpi.go, abi_mpich.go
// and abi_standard.go.
type abi struct {
	name           string // of the libraries that have it
	handleBytes    int    // 8, or 4, the lower ones of the handles below
	threadFunneled int    // MPI_THREAD_FUNNELED

	// Handles.
	commWorld, commSelf, commNull, byteType, requestNull uintptr
	errorsReturn, copyNothing                            uintptr
	numbers                                              [reflect.Float64 + 1]uintptr // 0: no such type
	reductions                                           [Max + 1]uintptr             // by Reduction

	// Classes of errors.
	errRank, errRoot, errTag, errCount, errTruncate int32

	// MPI_Status: its size and the offsets of its fields, in bytes. The count of a message of fewer
	// than 2^31 bytes is the 64-bit word at counted, or notKnown before checkABI.
	statusBytes, source, tag, counted int
}

// notKnown is the offset of a field that has to be found.
const notKnown = -1

// Constants that the known ABIs have in common.
const (
	undefined = -32766
	textRoom  = 8192 // at least MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_ERROR_STRING and MPI_MAX_PROCESSOR_NAME
)

// A resolver returns the address of a symbol of the library, or 0.
type resolver func(name string) uintptr

type symbol struct {
	name    string
	address *uintptr
}

// all finds all symbols of a list.
func (find resolver) all(symbols []symbol) error {
	for _, s := range symbols {
		if *s.address = find(s.name); *s.address == 0 {
			return fmt.Errorf("the MPI library has no symbol %s", s.name)
		}
	}
	return nil
}

// chooseABI returns the table of a library. It decides by the library's version text, by the version of
// the standard ABI that the library says to have ("" for none), and by its symbols.
func chooseABI(version, standardABI string, find resolver) (*abi, error) {
	hasSymbols := find("ompi_mpi_comm_world") != 0
	switch {
	case strings.HasPrefix(standardABI, "1."):
		return standard(), nil
	case standardABI != "":
		return nil, fmt.Errorf("the library (%s) has version %s of the standard ABI of MPI; version 1 is known: name another library by %s",
			firstLine(version), standardABI, libraryVar)
	case hasSymbols && strings.HasPrefix(version, "Open MPI"):
		return openMPI(find)
	case !hasSymbols && isKinOfMPICH(version):
		return mpich(), nil
	}
	return nil, fmt.Errorf("the library says %q: it has neither the ABI of Open MPI, nor that of MPICH, nor the standard ABI of MPI 5: name another library by %s",
		firstLine(version), libraryVar)
}

func int32At(status []byte, at int) int32 { return int32(binary.NativeEndian.Uint32(status[at:])) }

// count returns the number of bytes that a status tells of.
func (a *abi) count(status []byte) int32 {
	return int32(min(binary.NativeEndian.Uint64(status[a.counted:]), 1<<31-1))
}
