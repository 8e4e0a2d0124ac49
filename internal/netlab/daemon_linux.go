package netlab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Fabric is the process behind the lab in dir, which Up has prepared and started with namespaces of mounts and
// processes of its own. Fabric makes the hosts, and prints "ready", or what went wrong. It forwards frames until
// it is asked to stop, or the leash ends (nil: there is none). It says of itself that it runs on the given CPU (-1: any).
//
// The fabric is the first process of the lab. When it ends, whatever the reason, the kernel ends the others. With the last
// process that has them it removes namespaces and devices.
func Fabric(dir string, cpu int, leash io.Reader) error {
	d, err := newDaemon(dir)
	answer := "ready"
	if err != nil {
		answer = err.Error()
	}
	fmt.Print(answer)
	os.Stdout.Close()
	if err != nil {
		return err
	}
	defer keepAwake()()
	if leash != nil {
		go func() {
			io.Copy(io.Discard, leash)
			d.stop()
		}()
	}
	return d.run(cpu)
}

// A daemon is the process of a lab: the machines, the fabric between them, and a socket by which others ask for counters
// or for the end.
type daemon struct {
	dir    string
	fabric *fabric
	socket net.Listener
}

func newDaemon(dir string) (*daemon, error) {
	// The first process of a namespace is the parent of orphans: ignored, they leave no zombies.
	signal.Ignore(unix.SIGCHLD)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("netlab: private mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return nil, fmt.Errorf("netlab: mount proc: %w", err)
	}
	c, err := ReadCluster(filepath.Join(dir, clusterName))
	if err != nil {
		return nil, err
	}
	e, err := newEngine(c)
	if err != nil {
		return nil, err
	}
	d := &daemon{dir: dir}
	if err := d.writeFiles(c); err != nil {
		return nil, err
	}
	ctl, err := newControl(dir)
	if err != nil {
		return nil, err
	}
	taps := make([]int, c.Graph.Hosts())
	for i := range taps {
		if taps[i], err = newHost(dir, c, i, ctl); err != nil {
			return nil, err
		}
	}
	if d.fabric, err = newFabric(c, e, taps); err != nil {
		return nil, err
	}
	d.socket, err = net.Listen("unix", filepath.Join(dir, socketFile))
	return d, err
}

// agentScript does what ssh would do for a launcher: it runs a command line on a host. Options are ignored. It runs
// inside the lab, where the thread that keeps a host is known by the number that the fabric has for it.
const agentScript = `#!/bin/sh
while case "$1" in -*) ;; *) false ;; esac; do shift; done
read -r thread <%s/"thread-$1" || exit
shift
exec nsenter --target "$thread" --net --uts --ipc --mount /bin/sh -c "$*"
`

// writeFiles writes what machines and launchers look for.
func (d *daemon) writeFiles(c *Cluster) error {
	hosts := "127.0.0.1 localhost\n"
	for _, m := range append(c.machines(), Machine{Name: control, Control: controlAddr(maxHosts).String()}) {
		hosts += m.Control + " " + m.Name + "\n"
	}
	if err := os.WriteFile(filepath.Join(d.dir, hostsFile), []byte(hosts), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, agentFile), fmt.Appendf(nil, agentScript, quote(d.dir)), 0o755); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(d.dir, tempDir), 0o755)
}

// quote makes a word of the shell out of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (d *daemon) run(cpu int) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	go func() {
		<-signals
		d.stop()
	}()
	go d.serve()
	err := d.fabric.run(cpu)
	if err2 := removeAll(d.dir); err == nil {
		err = err2
	}
	return err
}

// stop ends the processes of the lab, then the loop.
func (d *daemon) stop() {
	unix.Kill(-1, unix.SIGKILL) // all that this process can see but itself
	d.fabric.do(func() { d.fabric.stopped = true })
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
			request := strings.TrimSpace(line)
			var c *Counters
			d.fabric.do(func() {
				c = d.fabric.snapshot()
				if request == resetRequest {
					d.fabric.clear()
				}
			})
			json.NewEncoder(conn).Encode(c) // a client that has gone does not matter
			if request == stopRequest {
				d.stop()
			}
		}()
	}
}
