package netlab

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The loop does three things in turn. It moves the engine to the present, which delivers what is due. Then it waits for
// frames of hosts, or for the next event. Then it reads frames, a few of each host, and gives them to the engine. It spins
// through the last microseconds before an event, as waking up would take longer than they last. Requests of other
// goroutines, such as for counters, come in between, by way of an eventfd. So the engine needs no lock.

// The event loop's times, in ns.
const (
	// spin is how long before an event the loop stops to sleep: waking up
	// takes that long on an idle core.
	spin = 60_000

	// A real-time thread that leaves the kernel less than 5 % of a second is
	// stopped by it for the rest of the second. The loop sleeps voluntarily
	// before that: a nap instead of a stall of 50 ms.
	window    = 100_000_000
	mostAwake = 88_000_000
	nap       = 100_000
)

// readBatch is the number of frames read from one host before the others get
// their turn and due frames are delivered.
const readBatch = 8

// Real-time priority. The scheduler of Go asks a goroutine that has run for 10 ms to make way, and another thread hands
// it its place back. That thread must not wait for the rest of the machine, nor for the loop, which
// may wait for it: the whole process is of one priority.
const fabricPriority = 50

// setRealTime gives the calling thread, and those it will make, a priority
// over all that is not real-time.
func setRealTime(priority uint32) error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: priority}, 0)
}

// A fabric is an engine that runs in real time between the TAPs of the hosts.
// Everything but do belongs to the thread of run.
type fabric struct {
	*engine
	taps    []int
	epoll   int
	wake    int // eventfd
	start   time.Time
	free    *frame // of the pool
	frame   int    // capacity of a frame
	loop    Loop
	late    int64 // sum, ns
	stalled int64 // ns
	busy    int64 // ns
	since   int64 // of the counters, ns
	stopped bool

	mu       sync.Mutex
	requests []func()
}

// newFabric joins the TAPs, which must be non-blocking.
func newFabric(c *Cluster, e *engine, taps []int) (*fabric, error) {
	f := &fabric{engine: e, taps: taps, frame: c.MTU + ethernetHeader + 4, start: time.Now(), loop: Loop{CPU: -1}}
	e.deliver, e.drop = f.write, f.recycle
	var err error
	if f.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("netlab: epoll: %w", err)
	}
	if f.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("netlab: eventfd: %w", err)
	}
	for i, fd := range append(append([]int{}, taps...), f.wake) {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return nil, fmt.Errorf("netlab: epoll: %w", err)
		}
	}
	f.grow(2048)
	return f, nil
}

// grow adds n frames to the pool, touched so that no page is missing later.
func (f *fabric) grow(n int) {
	slab := make([]byte, n*f.frame)
	for i := 0; i < len(slab); i += 4096 {
		slab[i] = 1
	}
	frames := make([]frame, n)
	for i := range frames {
		frames[i].buf = slab[i*f.frame : (i+1)*f.frame]
		f.recycle(&frames[i])
	}
}

func (f *fabric) recycle(fr *frame) {
	fr.next = f.free
	f.free = fr
}

// now is the time in ns since the fabric was made.
func (f *fabric) now() int64 { return int64(time.Since(f.start)) }

// do calls fn on the thread of run and waits for it.
func (f *fabric) do(fn func()) {
	done := make(chan struct{})
	f.mu.Lock()
	f.requests = append(f.requests, func() { fn(); close(done) })
	f.mu.Unlock()
	one := [8]byte{1}
	unix.Write(f.wake, one[:])
	<-done
}

// run forwards frames until stop, on a CPU of its own if cpu is not -1.
func (f *fabric) run(cpu int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cpu >= 0 {
		if err := pinThreads(cpu); err != nil {
			return fmt.Errorf("netlab: fabric: cpu %d: %w", cpu, err)
		}
		f.loop.CPU = cpu
	}
	f.loop.RealTime = setRealTime(fabricPriority) == nil
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("netlab: fabric: timer slack: %w", err)
	}
	f.clear()
	events := make([]unix.EpollEvent, len(f.taps)+1)
	windowStart, awake := f.now(), int64(0)
	woke := windowStart
	for !f.stopped {
		now := f.now()
		f.advance(now)
		wait := int64(0)
		if next := f.next(); next == math.MaxInt64 {
			wait = math.MaxInt64
		} else if left := next - now - spin; left > 0 {
			wait = left
		}
		if now-windowStart > window {
			f.busy += now - woke
			windowStart, awake, woke = now, 0, now
		} else if awake+now-woke > mostAwake && wait < nap {
			wait = nap
		}
		n := f.poll(events, wait)
		if wait > 0 {
			awake += now - woke
			f.busy += now - woke
			woke = f.now()
		}
		for _, ev := range events[:n] {
			if int(ev.Fd) == len(f.taps) {
				f.serve()
				continue
			}
			f.read(int(ev.Fd))
		}
	}
	return nil
}

// pinThreads binds all threads of the program to a CPU, and so those they will make. One of Go's wakes up every 20 us while
// the loop runs: on the CPU of the ranks it would take a third of their time.
func pinThreads(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	for bound := false; !bound; { // a thread that is not bound yet may have made another one meanwhile
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		bound = true
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			var now unix.CPUSet
			if err = unix.SchedGetaffinity(id, &now); err == nil && now != set {
				bound = false
				err = unix.SchedSetaffinity(id, &set)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) { // which says that it has ended
				return fmt.Errorf("thread %d: %w", id, err)
			}
		}
	}
	return nil
}

// advance brings the network to time now, and notes for how long that was overdue.
func (f *fabric) advance(now int64) {
	if late := now - f.next(); late > stall {
		f.stalled += late
	}
	f.engine.run(now)
}

// poll waits for frames, at most the given number of ns, and returns how many
// hosts have some.
func (f *fabric) poll(events []unix.EpollEvent, wait int64) int {
	ts := unix.NsecToTimespec(wait) // the greatest number of ns is 292 years
	var n uintptr
	var errno unix.Errno
	if wait == 0 {
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(f.epoll),
			uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	} else {
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(f.epoll),
			uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	if errno != 0 {
		return 0 // EINTR: the loop comes back
	}
	return int(n)
}

// read takes waiting frames of a host.
func (f *fabric) read(host int) {
	for range readBatch {
		if f.free == nil {
			f.grow(512)
		}
		fr := f.free
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(f.taps[host]), uintptr(unsafe.Pointer(&fr.buf[0])), uintptr(len(fr.buf)))
		if errno != 0 {
			return
		}
		b := fr.buf[:n]
		if n < ethernetHeader || b[0] != 0x02 || b[1] != 'n' || int(b[5]) >= len(f.taps) || int(b[5]) == host {
			f.loop.Stray++
			continue
		}
		f.free = fr.next
		fr.n, fr.src, fr.dst = int(n), host, int(b[5])
		fr.flow = flowOf(b, host, fr.dst)
		now := f.now()
		f.advance(now)
		f.inject(now, fr)
	}
}

// write hands a frame to its host.
func (f *fabric) write(fr *frame, due int64) {
	late := f.now() - due
	f.late += late
	if late > stall {
		f.loop.Above1ms++
	}
	if s := seconds(late); s > f.loop.Worst {
		f.loop.Worst = s
	}
	f.loop.Frames++
	// An error means that the host is going down; there is nobody to tell.
	unix.RawSyscall(unix.SYS_WRITE, uintptr(f.taps[fr.dst]), uintptr(unsafe.Pointer(&fr.buf[0])), uintptr(fr.n))
	f.recycle(fr)
}

// serve calls what do has asked for.
func (f *fabric) serve() {
	var b [8]byte
	unix.Read(f.wake, b[:])
	f.mu.Lock()
	todo := f.requests
	f.requests = nil
	f.mu.Unlock()
	for _, fn := range todo {
		fn()
	}
}

// clear starts to count anew. For the loop's thread.
func (f *fabric) clear() {
	f.reset()
	f.loop = Loop{RealTime: f.loop.RealTime, CPU: f.loop.CPU}
	f.late, f.stalled, f.busy, f.since = 0, 0, 0, f.now()
}

// snapshot is what has been counted. For the loop's thread.
func (f *fabric) snapshot() *Counters {
	c := &Counters{Links: f.counters(), Loop: f.loop}
	c.Loop.Elapsed = seconds(f.now() - f.since)
	c.Loop.Busy = seconds(f.busy)
	c.Loop.Stalled = seconds(f.stalled)
	if f.loop.Frames > 0 {
		c.Loop.Late = float64(f.late) * 1e-9 / float64(f.loop.Frames)
	}
	return c
}
