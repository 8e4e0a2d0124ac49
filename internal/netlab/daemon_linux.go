package netlab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Fabric is the process behind a lab. It reads a cluster from in, makes the
// hosts, and says "ready" (or what went wrong) to ready. It forwards frames until
// it is asked to stop, or the leash ends (nil: there is none). The namespaces
// and devices live in its open files, so the kernel removes them when it ends,
// whatever the reason.
func Fabric(dir, command string, in io.Reader, ready io.WriteCloser, leash io.Reader) error {
	if os.Getenv(realTimeVariable) == "" {
		becomeRealTime()
	}
	d, err := newDaemon(dir, command, in)
	if err != nil {
		if errors.Is(err, ErrUp) {
			err = ErrUp
		}
		fmt.Fprint(ready, err)
		ready.Close()
		return err
	}
	fmt.Fprint(ready, "ready")
	ready.Close() // before anything is started that would keep it open
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer keepAwake()()
	if leash != nil {
		go func() {
			io.Copy(io.Discard, leash)
			d.stop()
		}()
	}
	return d.run()
}

// realTimeVariable is set in a process that has been through becomeRealTime.
const realTimeVariable = "NETLAB_REAL_TIME"

// becomeRealTime starts the program anew with real-time priority, or failing
// that with the best of the others, so that all its threads have it. It returns
// if that is not possible either; the lateness then shows in the counters.
func becomeRealTime() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if setRealTime(fabricPriority) != nil && unix.Setpriority(unix.PRIO_PROCESS, 0, -20) != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	unix.Exec(self, os.Args, append(os.Environ(), realTimeVariable+"=1"))
}

// A daemon is the process of a lab: the machines, the fabric between them, and a socket by which others ask for counters
// or for the end. Its directory has what they need to know of the machines: see state.
type daemon struct {
	dir      string
	lock     *os.File
	state    *state
	machines []*namespace // hosts, then control
	fabric   *fabric
	cpu      int
	socket   net.Listener
	stopping sync.Once
}

func newDaemon(dir, command string, in io.Reader) (d *daemon, err error) {
	d = &daemon{dir: dir, cpu: -1}
	if d.lock, err = lockLab(dir); err != nil {
		return nil, err
	}
	// What a dead lab of this name has left.
	if old, err := readState(dir); err == nil {
		old.killAll()
	}
	for _, name := range []string{stateFile, socketFile, tempDir} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	c, err := DecodeCluster(in, dir, filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	e, err := newEngine(c)
	if err != nil {
		return nil, err
	}
	ctl, err := newControl()
	if err != nil {
		return nil, err
	}
	var taps []int
	for i := range c.Graph.Hosts() {
		h, err := newHost(c, i, ctl)
		if err != nil {
			return nil, err
		}
		d.machines = append(d.machines, h)
		taps = append(taps, h.tap)
	}
	d.machines = append(d.machines, ctl)
	if d.fabric, err = newFabric(c, e, taps); err != nil {
		return nil, err
	}
	if err := d.describe(c); err != nil {
		return nil, err
	}
	return d, d.writeFiles(c, command)
}

// describe fills the state.
func (d *daemon) describe(c *Cluster) error {
	pid := os.Getpid()
	d.state = &state{Format: stateFormat, Version: 1, PID: pid}
	for i, m := range d.machines {
		path := func(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", pid, f.Fd()) }
		entry := Machine{Name: m.name, Net: path(m.net), UTS: path(m.uts), IPC: path(m.ipc)}
		var st unix.Stat_t
		if err := unix.Fstat(int(m.net.Fd()), &st); err != nil {
			return err
		}
		entry.Inode = st.Ino
		var err error
		if entry.Cookie, err = cookie(entry.Net); err != nil {
			return err
		}
		if i < c.Graph.Hosts() {
			entry.Address, entry.Control = fabricAddr(i).String(), controlAddr(i).String()
		} else {
			entry.Control = controlAddr(maxHosts).String()
		}
		d.state.Machines = append(d.state.Machines, entry)
	}
	// The fabric gets the last CPU and the ranks the others.
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	if set.Count() < 2 {
		return nil
	}
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			d.state.CPUs = append(d.state.CPUs, cpu)
		}
	}
	last := len(d.state.CPUs) - 1
	d.cpu, d.state.CPUs = d.state.CPUs[last], d.state.CPUs[:last]
	return nil
}

func (d *daemon) writeFiles(c *Cluster, command string) (err error) {
	write := func(name, content string, mode os.FileMode) {
		if err == nil {
			err = renameio.WriteFile(filepath.Join(d.dir, name), []byte(content), mode)
		}
	}
	var b strings.Builder
	if err := c.Encode(&b); err != nil {
		return err
	}
	write(clusterName, b.String(), 0o644)

	hosts := "127.0.0.1 localhost\n"
	for _, m := range d.state.Machines {
		hosts += m.Control + " " + m.Name + "\n"
		write(bootFile(m.Name), bootID(m.Cookie), 0o644)
	}
	write(hostsFile, hosts, 0o644)
	write(agentFile, fmt.Sprintf("#!/bin/sh\nexec %s agent %s \"$@\"\n", quote(command), quote(d.dir)), 0o755)
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(d.dir, tempDir), 0o755); err != nil {
		return err
	}
	if d.socket, err = net.Listen("unix", filepath.Join(d.dir, socketFile)); err != nil {
		return err
	}
	st, err := json.MarshalIndent(d.state, "", "  ")
	if err != nil {
		return err
	}
	write(stateFile, string(st)+"\n", 0o644)
	return err
}

// bootID is what a machine of a lab has for the kernel's boot id, in the kernel's form. Programs tell by it
// whether they run on one machine.
func bootID(cookie uint64) string { return fmt.Sprintf("6e65746c-6162-0000-0000-%012x\n", cookie) }

// quote makes a word of the shell out of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (d *daemon) run() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	go func() {
		<-signals
		d.stop()
	}()
	go d.serve()
	// A collection would stop the loop. What the loop needs it has; requests
	// leave a few KB each. The limit is for a daemon that is asked for years.
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	err := d.fabric.run(d.cpu)
	for _, m := range d.machines {
		m.close()
	}
	if err2 := os.RemoveAll(d.dir); err == nil {
		err = err2
	}
	return err
}

// stop ends the processes of the lab, then the loop, and returns the counters.
func (d *daemon) stop() *Counters {
	c := &Counters{}
	d.stopping.Do(func() {
		d.state.killAll()
		d.fabric.do(func() {
			c = d.fabric.snapshot()
			d.fabric.stopped = true
		})
	})
	return c
}

// serve answers requests, each a line of one word, with a line of JSON.
func (d *daemon) serve() {
	for {
		conn, err := d.socket.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			line, err := bufio.NewReader(io.LimitReader(conn, 100)).ReadString('\n')
			if err != nil {
				return
			}
			c := &Counters{}
			switch strings.TrimSpace(line) {
			case "counters":
				d.fabric.do(func() { c = d.fabric.snapshot() })
			case "reset":
				d.fabric.do(func() {
					c = d.fabric.snapshot()
					d.fabric.clear()
				})
			case "stop":
				c = d.stop()
			default:
				return
			}
			json.NewEncoder(conn).Encode(c) // a client that has gone does not matter
		}()
	}
}
