package netlab

import (
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// A prober holds plain TCP connections between hosts of a lab. A socket
// belongs to the network in which it was made, whoever uses it, so one thread
// plays all hosts: with one clock and without a switch of context it sees
// one-way times, and the kernels' part of the cost alone.
type prober struct {
	lab   *Lab
	conns map[[2]int][2]int // from, to -> their sockets
	buf   []byte
	away  time.Duration // for which the thread should have run and did not, stalls alone
	spun  time.Duration // without a rest
}

func newProber(l *Lab) *prober {
	return &prober{lab: l, conns: map[[2]int][2]int{}, buf: make([]byte, 64<<10)}
}

func (p *prober) close() {
	for _, c := range p.conns {
		unix.Close(c[0])
		unix.Close(c[1])
	}
	clear(p.conns)
}

// probePriority is below the fabric's.
const probePriority = 30

// pin keeps the calling thread, which must be locked, away from the fabric,
// and gives it precedence over what else the machine does: that is not what is
// to be measured.
func (p *prober) pin() error {
	if setRealTime(probePriority) != nil {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, -20); err != nil {
			return err
		}
	}
	cpus, err := p.lab.cpus()
	if err != nil {
		return err
	}
	return unix.SchedSetaffinity(0, cpus)
}

// rest leaves the CPU to the rest of the machine for an eighth of the time for which the thread
// has kept it: the kernel would take as much from a real-time thread, and not ask when.
func (p *prober) rest() {
	time.Sleep(p.spun / 8)
	p.spun = 0
}

// ran notes that the thread, which never sleeps, did nothing from one time to another but a
// step of its own work.
func (p *prober) ran(from, to time.Time) {
	step := to.Sub(from)
	p.spun += step
	if step > stall {
		p.away += step
	}
}

// conn returns a connection's sockets at hosts a and b, non-blocking. The first call for two hosts connects them; later
// ones return the same sockets, whose windows are open by then.
func (p *prober) conn(a, b int) (atA, atB int, err error) {
	if c, ok := p.conns[[2]int{a, b}]; ok {
		return c[0], c[1], nil
	}
	hosts := p.lab.Machines()
	failed := func(err error) (int, int, error) {
		return 0, 0, fmt.Errorf("netlab: probe: %s to %s: %w", hosts[a].Name, hosts[b].Name, err)
	}
	var listener net.Listener
	err = p.lab.inside(hosts[b].Name, func() (err error) {
		listener, err = net.Listen("tcp4", hosts[b].Address+":0")
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer listener.Close()
	var there, here net.Conn
	err = p.lab.inside(hosts[a].Name, func() (err error) {
		there, err = net.Dial("tcp4", listener.Addr().String())
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer there.Close()
	if here, err = listener.Accept(); err != nil {
		return failed(err)
	}
	defer here.Close()
	var c [2]int
	for i, end := range []net.Conn{there, here} {
		if c[i], err = socketOf(end.(*net.TCPConn)); err != nil {
			return failed(err)
		}
	}
	p.conns[[2]int{a, b}] = c
	return c[0], c[1], nil
}

// socketOf is another descriptor of the socket of a connection, which stays open when the connection is closed.
func socketOf(c *net.TCPConn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(own uintptr) { fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(failed, err)
}

// inside calls f on a thread that is in the network of a host.
func (l *Lab) inside(host string, f func() error) error {
	ns, err := l.namespaces(host)
	if err != nil {
		return err
	}
	return inside(ns+"/net", f)
}

// probeLimit ends a probe that gets no answer.
const probeLimit = 30 * time.Second

// latency measures the shortest one-way times in s of a byte from a to b and
// back, over repeated exchanges.
func (p *prober) latency(a, b, exchanges int) (there, back float64, err error) {
	there, back = math.Inf(1), math.Inf(1)
	for range exchanges {
		for _, x := range []struct {
			stream
			least *float64
		}{{stream{a, b, 1}, &there}, {stream{b, a, 1}, &back}} {
			took, err := p.transfer([]stream{x.stream})
			if err != nil {
				return 0, 0, err
			}
			*x.least = min(*x.least, took[0])
		}
	}
	return there, back, nil
}

// transfer sends all streams at once and returns the time in s after which
// each had arrived as a whole.
func (p *prober) transfer(streams []stream) ([]float64, error) {
	type state struct{ from, to, unsent, unread int }
	left := make([]state, len(streams))
	for i, s := range streams {
		fa, fb, err := p.conn(s.a, s.b)
		if err != nil {
			return nil, err
		}
		left[i] = state{fa, fb, s.bytes, s.bytes}
	}
	took := make([]float64, len(streams))
	open := len(streams)
	start := time.Now()
	moved, last := start, start
	for open > 0 {
		for i := range left {
			s := &left[i]
			if s.unsent > 0 {
				n, err := unix.Write(s.from, p.buf[:min(len(p.buf), s.unsent)])
				if err != nil && !errors.Is(err, unix.EAGAIN) {
					return nil, fmt.Errorf("netlab: probe: %w", err)
				}
				s.unsent -= max(n, 0)
			}
			if s.unread == 0 {
				continue
			}
			n, err := unix.Read(s.to, p.buf)
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				return nil, fmt.Errorf("netlab: probe: %w", err)
			}
			if n > 0 {
				moved = time.Now()
				if s.unread -= n; s.unread == 0 {
					took[i] = moved.Sub(start).Seconds()
					open--
				}
			}
		}
		now := time.Now()
		p.ran(last, now)
		last = now
		if now.Sub(moved) > probeLimit {
			return nil, fmt.Errorf("netlab: probe: nothing has arrived for %v", probeLimit)
		}
	}
	return took, nil
}

// locked calls f on a thread of its own, pinned.
func (p *prober) locked(f func() error) error {
	return onOwnThread(func() error {
		if err := p.pin(); err != nil {
			return fmt.Errorf("netlab: probe: %w", err)
		}
		return f()
	})
}
