package netlab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
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
	var set unix.CPUSet
	for _, cpu := range p.lab.state.CPUs {
		set.Set(cpu)
	}
	if set.Count() == 0 {
		return nil
	}
	return unix.SchedSetaffinity(0, &set)
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
func (p *prober) conn(a, b int) (sockA, sockB int, err error) {
	if c, ok := p.conns[[2]int{a, b}]; ok {
		return c[0], c[1], nil
	}
	hosts := p.lab.Machines()
	addr := netip.MustParseAddr(hosts[b].Address).As4()
	listener := -1
	err = hosts[b].inside(func() (err error) {
		listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: addr}); err != nil {
			return err
		}
		return unix.Listen(listener, 1)
	})
	if listener >= 0 {
		defer unix.Close(listener)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("netlab: probe: listen on %s: %w", hosts[b].Name, err)
	}
	name, err := unix.Getsockname(listener)
	if err != nil {
		return 0, 0, fmt.Errorf("netlab: probe: %w", err)
	}
	sockA = -1
	err = hosts[a].inside(func() (err error) {
		sockA, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Connect(sockA, name)
	})
	if err == nil {
		sockB, _, err = unix.Accept4(listener, unix.SOCK_CLOEXEC)
	}
	if err != nil {
		if sockA >= 0 {
			unix.Close(sockA)
		}
		return 0, 0, fmt.Errorf("netlab: probe: %s to %s: %w", hosts[a].Name, hosts[b].Name, err)
	}
	p.conns[[2]int{a, b}] = [2]int{sockA, sockB}
	for _, fd := range []int{sockA, sockB} {
		err := errors.Join(unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
		if err != nil {
			return 0, 0, fmt.Errorf("netlab: probe: %w", err)
		}
	}
	return sockA, sockB, nil
}

// inside calls f on a thread that is in the machine's network.
func (m *Machine) inside(f func() error) error {
	file, err := os.Open(m.Net)
	if err != nil {
		return err
	}
	defer file.Close()
	return (&namespace{net: file}).inside(f)
}

// probeLimit ends a probe that gets no answer.
const probeLimit = 30 * time.Second

// latency measures the shortest one-way times in s of a byte from a to b and
// back, over repeated exchanges.
func (p *prober) latency(a, b, exchanges int) (there, back float64, err error) {
	fa, fb, err := p.conn(a, b)
	if err != nil {
		return 0, 0, err
	}
	least := [2]time.Duration{probeLimit, probeLimit}
	for range exchanges {
		for dir, fds := range [2][2]int{{fa, fb}, {fb, fa}} {
			start := time.Now()
			if _, err := unix.Write(fds[0], p.buf[:1]); err != nil {
				return 0, 0, fmt.Errorf("netlab: probe: %w", err)
			}
			for last := start; ; {
				_, err := unix.Read(fds[1], p.buf[:1])
				now := time.Now()
				p.ran(last, now)
				last = now
				took := now.Sub(start)
				if err == nil {
					least[dir] = min(least[dir], took)
					break
				}
				if !errors.Is(err, unix.EAGAIN) {
					return 0, 0, fmt.Errorf("netlab: probe: %w", err)
				}
				if took > probeLimit {
					return 0, 0, fmt.Errorf("netlab: probe: no answer between hosts %d and %d", a, b)
				}
			}
		}
	}
	return least[0].Seconds(), least[1].Seconds(), nil
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
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the affinity goes with the thread
		if err := p.pin(); err != nil {
			done <- fmt.Errorf("netlab: probe: %w", err)
			return
		}
		done <- f()
	}()
	return <-done
}
