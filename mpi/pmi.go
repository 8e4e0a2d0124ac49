//go:build (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"bytes"
	"strconv"
	"syscall"
)

// A pmiSocket is the connection of this process to Hydra, the launcher of MPICH. Its protocol is
// PMI 1 (Balaji et al. 2010, "PMI: a scalable parallel process-management interface").
//
// Since version 4.2 MPI_Finalize of MPICH no longer tells Hydra that the process ends: a handler of
// C's atexit does. Go ends a process without C's exit, so the handler never runs. Hydra then takes
// the closed connection for a failure, and kills the ranks that still work.
type pmiSocket struct {
	fd            int
	device, inode uint64
}

// launcherSocket returns the connection that the launcher has left in the environment, or nil if
// there is none that speaks PMI 1.
func launcherSocket(getenv func(string) string) *pmiSocket {
	fd, err := strconv.ParseUint(getenv("PMI_FD"), 10, 31)
	if err != nil || getenv("HYDI_CONTROL_FD") == "" {
		return nil
	}
	s := &pmiSocket{fd: int(fd)}
	var ok bool
	if s.device, s.inode, ok = socketID(s.fd); !ok {
		return nil
	}
	return s
}

// socketID identifies the socket behind a descriptor. It is not ok if there is none.
func socketID(fd int) (device, inode uint64, ok bool) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true
}

// send writes a line, unless the library has closed the connection.
func (s *pmiSocket) send(line string) bool {
	if s == nil {
		return false
	}
	if device, inode, ok := socketID(s.fd); !ok || device != s.device || inode != s.inode {
		return false
	}
	_, err := syscall.Write(s.fd, []byte(line))
	return err == nil
}

// finalize tells the launcher that this process ends in order, and waits up to two seconds for the
// answer. It does nothing, and returns false, where the library has closed the connection already.
func (s *pmiSocket) finalize() bool {
	if !s.send("cmd=finalize\n") {
		return false
	}
	limit := syscall.Timeval{Sec: 2}
	if err := syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return true // it may block, so the answer is not read
	}
	answer := make([]byte, 256) // "cmd=finalize_ack rc=0\n"
	for n := 0; n < len(answer) && bytes.IndexByte(answer[:n], '\n') < 0; {
		k, err := syscall.Read(s.fd, answer[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || k == 0 {
			break
		}
		n += k
	}
	return true
}
