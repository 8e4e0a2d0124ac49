//go:build !(mpi && cgo)

package mpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// check holds the library to what the table says of it, before anybody relies on that: the world's
// rank and size, and messages of the process to itself, of which the status and the handles have to be
// where they should, and nothing else written. What C writes goes into rooms that are larger than any
// library needs, and filled with a pattern.
func (l *library) check() error {
	if l.sound || flag(l.tc.finalized) {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("mpi: World: %s does not have the ABI of %s that is known here (%s); build with CC=mpicc go build -tags mpi",
			firstLine(l.version()), l.name, fmt.Sprintf(format, args...))
	}
	var e endpoint
	e.open(l)
	e.comm = l.commWorld
	if rank, size := e.who(); rank < 0 || rank >= size {
		return refuse("rank %d of %d", rank, size)
	}
	e.comm = l.commSelf
	if rank, size := e.who(); rank != 0 || size != 1 {
		return refuse("MPI_COMM_SELF has rank %d of %d", rank, size)
	}
	for _, n := range []int{0, 5} {
		const tag = 0x2a2a
		out, in := []byte("topocast")[:n], bytes.Repeat([]byte{pattern}, 8)
		fillPattern(e.scratch.status[:])
		handle := &e.posted
		handle[0], handle[1] = patternHandle, patternHandle
		if c := e.begin(l.tc.isend, out, 0, tag, &handle[0]); c != codeOK {
			return refuse("MPI_Isend returns %d", c)
		}
		written := handle[0]
		if l.handleBytes == 4 {
			handle[0] &= 1<<32 - 1
		}
		if c := e.call(l.tc.recv, e.hold(in[:n]), uintptr(n), l.byteType, 0, tag, e.comm, e.statusAt()); c != codeOK {
			return refuse("MPI_Recv returns %d", c)
		}
		status := bytes.Clone(e.scratch.status[:])
		if c := e.call(l.tc.wait, requestAt(&handle[0]), e.statusAt()); c != codeOK {
			return refuse("MPI_Wait returns %d", c)
		}
		e.release()
		source, gotTag, count := int32At(status, l.source), int32At(status, l.tag), l.count(status)
		switch {
		case binary.NativeEndian.Uint64(status[l.counted:]) != uint64(n):
			return refuse("the status of %d bytes holds %#x", n, status[l.counted:l.counted+8])
		case source != 0 || gotTag != tag || count != int64(n):
			return refuse("the status of %d bytes with tag %d from rank 0 tells %d, %d, %d", n, tag, count, gotTag, source)
		case !isPattern(status[l.statusBytes:]):
			return refuse("its status is longer than %d bytes", l.statusBytes)
		case !bytes.Equal(in[:n], out) || !isPattern(in[n:]):
			return refuse("%q was received as %q", out, in)
		case l.handleBytes == 4 && written>>32 != patternHandle>>32 || handle[1] != patternHandle:
			return refuse("its handles are longer than %d bytes", l.handleBytes)
		case uintptr(handle[0]) != l.requestNull:
			return refuse("a request that is complete is %#x, want %#x", handle[0], l.requestNull)
		}
	}
	l.sound = true
	return nil
}

const (
	pattern       = 0xa5
	patternHandle = 0xa5a5a5a5a5a5a5a5
)

func fillPattern(b []byte) {
	for i := range b {
		b[i] = pattern
	}
}

func isPattern(b []byte) bool {
	return bytes.Count(b, []byte{pattern}) == len(b)
}
