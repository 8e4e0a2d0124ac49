package mpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// checkABI holds the library to the table of its ABI before anybody relies on that: the ranks and sizes
// of two communicators, and messages of the process to itself on a communicator in which it has that rank. The
// status and the handles have to be as the table says, and nothing else may be written. C writes into rooms that are larger than any library
// needs, and filled with a pattern. Where the table does not tell it, checkABI finds the place of the
// count in the status.
func (l *library) checkABI(comm uintptr, self int) error {
	if l.sound || flag(l.tc.finalized) {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("mpi: World: %s does not have the ABI of %s that is known here (%s): name another library by %s",
			firstLine(l.version()), l.name, fmt.Sprintf(format, args...), libraryVar)
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
	e.comm = comm
	const tag = 0x2a2a
	lengths := []int{0, 5, 0x1234}
	out := bytes.Repeat([]byte("topocast"), 0x300)
	var statuses [][]byte
	for _, n := range lengths {
		in := bytes.Repeat([]byte{pattern}, n+8)
		copy(e.scratch.status[:], bytes.Repeat([]byte{pattern}, statusRoom))
		handle := new([2]request) // C writes one of them
		handle[0], handle[1] = patternHandle, patternHandle
		if c := e.begin(l.tc.isend, out[:n], self, tag, &handle[0]); c != codeOK {
			return refuse("MPI_Isend returns %d", c)
		}
		written := handle[0]
		if l.handleBytes == 4 {
			handle[0] &= 1<<32 - 1
		}
		if c := e.call(l.tc.recv, e.hold(in[:n]), uintptr(n), l.byteType, uintptr(self), tag, e.comm, e.statusAt()); c != codeOK {
			return refuse("MPI_Recv returns %d", c)
		}
		status := bytes.Clone(e.scratch.status[:])
		if c := e.call(l.tc.wait, requestAt(&handle[0]), e.statusAt()); c != codeOK {
			return refuse("MPI_Wait returns %d", c)
		}
		e.release()
		source, gotTag := int32At(status, l.source), int32At(status, l.tag)
		switch {
		case source != int32(self) || gotTag != tag:
			return refuse("the status of a message with tag %d from rank %d tells %d, %d", tag, self, gotTag, source)
		case !isPattern(status[l.statusBytes:]):
			return refuse("its status is longer than %d bytes", l.statusBytes)
		case !bytes.Equal(in[:n], out[:n]) || !isPattern(in[n:]):
			return refuse("a message of %d bytes was received otherwise", n)
		case l.handleBytes == 4 && written>>32 != patternHandle>>32 || handle[1] != patternHandle:
			return refuse("its handles are longer than %d bytes", l.handleBytes)
		case uintptr(handle[0]) != l.requestNull:
			return refuse("a request that is complete is %#x, want %#x", handle[0], l.requestNull)
		}
		statuses = append(statuses, status)
	}
	counted := l.findCount(statuses, lengths)
	if counted == notKnown || l.counted != notKnown && counted != l.counted {
		return refuse("the counts of %v bytes are at %d of the status, want %d", lengths, counted, l.counted)
	}
	l.counted, l.sound = counted, true
	return nil
}

// findCount returns the first offset at which the 64-bit words of the statuses are the lengths; notKnown:
// there is none. Where the table tells an offset, that one comes first.
func (l *library) findCount(statuses [][]byte, lengths []int) int {
	holds := func(at int) bool {
		for i, status := range statuses {
			if binary.NativeEndian.Uint64(status[at:]) != uint64(lengths[i]) {
				return false
			}
		}
		return true
	}
	if l.counted != notKnown && holds(l.counted) {
		return l.counted
	}
	for at := 0; at+8 <= l.statusBytes; at += 4 {
		if holds(at) {
			return at
		}
	}
	return notKnown
}

const (
	pattern       = 0xa5
	patternHandle = 0xa5a5a5a5a5a5a5a5
)

func isPattern(b []byte) bool { return bytes.Count(b, []byte{pattern}) == len(b) }
