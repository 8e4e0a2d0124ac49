package mpi

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// A Comm is a communicator of a real MPI library. It has every ability that this package names. Its calls
// have to come from one thread; World and Run lock the goroutine to it.
type Comm struct {
	lib        *library
	native     endpoint
	rank, size int
	host       string
	epoch      time.Time
	ends       bool          // Close ends MPI, because the World that made this one started it
	limit      time.Duration // of MPI_Finalize
	closed     bool
	arena      arena
	live       live
	scratch    collectiveScratch
}

// Rank is the number of the calling rank.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks.
func (c *Comm) Size() int { return c.size }

// Send sends buf to rank dst. It may block until the message is received:
// up to a few kilobytes the libraries buffer.
func (c *Comm) Send(buf []byte, dst, tag int) error {
	if err := c.check("Send", len(buf), dst, tag); err != nil {
		return err
	}
	return c.fault("Send", c.native.send(c.lib.tc.send, c.lib.tc.isend, buf, dst, tag), dst, tag)
}

// Ssend sends buf to rank dst, and returns when dst has begun to receive it.
func (c *Comm) Ssend(buf []byte, dst, tag int) error {
	if err := c.check("Ssend", len(buf), dst, tag); err != nil {
		return err
	}
	return c.fault("Ssend", c.native.send(c.lib.tc.ssend, c.lib.tc.issend, buf, dst, tag), dst, tag)
}

// Recv receives a message of exactly len(buf) bytes from rank src.
func (c *Comm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	result := c.native.recv(buf, src, tag)
	if err := c.fault("Recv", result.code, src, tag); err != nil {
		return err
	}
	return checkLength("Recv", c.rank, int(result.count), len(buf), src, tag)
}

// Bcast is collective: it copies buf of rank root into buf of all ranks, with
// MPI_Bcast as the library was told to do it. len(buf) and root are equal on
// all ranks.
func (c *Comm) Bcast(buf []byte, root int) error {
	if c.closed || uint(root) >= uint(c.size) || len(buf) > math.MaxInt32 {
		return c.checkRoot("Bcast", len(buf), root)
	}
	failed := c.native.bcast(buf, root)
	if failed == codeOK {
		return nil
	}
	return c.joined("Bcast", failed, root, buf, nil)
}

// Now is the time in seconds by the host's monotonic clock, which all ranks of a host share on Linux. Go reads it
// faster than MPI_Wtime does, and as finely.
func (c *Comm) Now() float64 { return time.Since(c.epoch).Seconds() }

// Place is the host as MPI_Get_processor_name tells it, and the CPUs of the calling thread's affinity mask, as
// launchers set it. On systems other than Linux the CPUs are not known.
func (c *Comm) Place() Place {
	cpus := allowedCPUs()
	return Place{Host: c.host, Core: coreOf(cpus), CPUs: cpus}
}

// LibraryVersion is the first line of what MPI_Get_library_version tells.
func (c *Comm) LibraryVersion() string {
	return firstLine(c.lib.version())
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, "\x00")         // which Open MPI counts
	return strings.Join(strings.Fields(line), " ") // MPICH aligns with tabs
}

// check refuses what no library needs to see.
func (c *Comm) check(op string, n, peer, tag int) error {
	if !c.closed && uint(tag) <= MaxTag && isSound(c.rank, c.size, n, peer, 0, n) {
		return nil
	}
	return cmp.Or(c.open(op), checkPeer(op, c.rank, c.size, n, peer, tag))
}

// open tells whether the communicator may be used.
func (c *Comm) open(op string) error {
	if c.closed {
		return c.useAfterClose(op)
	}
	return nil
}

func (c *Comm) useAfterClose(op string) error {
	return &Error{op, c.rank, -1, -1, ErrClosed}
}

// fault turns the code of a call into an error: nil for codeOK.
func (c *Comm) fault(op string, failed code, peer, tag int) error {
	if failed == codeOK {
		return nil
	}
	return &Error{op, c.rank, peer, tag, c.lib.classError(failed)}
}
