// Package slurmtest starts clusters of Slurm for tests: a controller that loads files of ours, with
// nodes that run jobs or without.
package slurmtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Daemons is where Debian has Slurm's daemons and munge's, which are in no user's PATH.
const Daemons = "/usr/sbin"

// Budget is how long a daemon may take to be up, and to answer; on a quiet machine a controller takes
// a second, with 5,884 nodes two.
const Budget = 2 * time.Minute

// Settings are what differs between clusters.
type Settings struct {
	// Nodes are the lines of slurm.conf that name the nodes.
	Nodes string

	// Topology is the topology.conf.
	Topology string

	// Machines run the daemons of the nodes of the same names. None: a controller alone.
	Machines []string

	// Controller is the name of the controller's machine. Default localhost.
	Controller string

	// On makes a command of a machine; the controller's is "". Default: commands of this machine.
	On func(machine string, args ...string) *exec.Cmd
}

// A Cluster is one that runs until the test ends.
type Cluster struct {
	dir string
	on  func(machine string, args ...string) *exec.Cmd
}

// Start starts a cluster. The test fails if it is not up within the Budget.
func Start(t testing.TB, s *Settings) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &Cluster{dir, s.On}
	controller := s.Controller
	if controller == "" {
		controller = "localhost"
	}
	if c.on == nil {
		c.on = func(_ string, args ...string) *exec.Cmd { return exec.Command(args[0], args[1:]...) }
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%s
SlurmUser=%s
AuthType=auth/munge
AuthInfo=socket=%s
StateSaveLocation=%s
SlurmctldPidFile=%s
SlurmctldPort=%d
SlurmdPort=%d
SlurmdPidFile=%s
SlurmdSpoolDir=%s
TmpFS=%s
TopologyPlugin=topology/tree
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MailProg=/bin/true
%s
PartitionName=all Nodes=ALL Default=YES
`, controller, me.Username, c.at("munge.socket"), c.at("state"), c.at("slurmctld.pid"), freePort(t), freePort(t),
		c.at("slurmd.%n.pid"), c.at("spool.%n"), c.at("tmp.%n"), strings.TrimSpace(s.Nodes))
	for file, text := range map[string]string{
		"slurm.conf":    conf,
		"topology.conf": s.Topology,
		"cgroup.conf":   "CgroupPlugin=cgroup/v1\n", // is not used, but looked for where this is not said
		"munge.key":     strings.Repeat("of a test ", 13),
	} {
		if err := os.WriteFile(c.at(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(c.at("state"), 0o700), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", c.at("slurm.conf"))
	c.daemon(t, "", "munged", "--foreground", "--force", "--socket", c.at("munge.socket"), "--key-file", c.at("munge.key"),
		"--pid-file", c.at("munged.pid"), "--log-file", c.at("munged.log"), "--seed-file", c.at("munged.seed"))
	c.await(t, "a socket of munged", func() error {
		_, err := os.Stat(c.at("munge.socket"))
		return err
	})
	c.daemon(t, "", "slurmctld", "-D", "-c", "-f", c.at("slurm.conf"))
	c.await(t, "an answer of slurmctld", func() error {
		_, err := c.ask("scontrol", "ping")
		return err
	})
	for _, m := range s.Machines {
		if err := errors.Join(os.Mkdir(c.at("spool."+m), 0o755), os.Mkdir(c.at("tmp."+m), 0o755)); err != nil {
			t.Fatal(err)
		}
		// Processes that are killed leave shared memory behind.
		c.daemon(t, m, "sh", "-c", `mount -t tmpfs tmpfs /dev/shm && exec "$@"`, "sh", filepath.Join(Daemons, "slurmd"), "-D", "-N", m, "-f", c.at("slurm.conf"))
	}
	if len(s.Machines) > 0 {
		c.await(t, "all nodes", func() error {
			out, err := c.ask("sinfo", "--noheader", "--states=idle", "--format=%D")
			if n := strings.TrimSpace(out); err == nil && n != fmt.Sprint(len(s.Machines)) {
				err = fmt.Errorf("%q of %d nodes are idle", n, len(s.Machines))
			}
			return err
		})
	}
	return c
}

func (c *Cluster) at(name string) string { return filepath.Join(c.dir, name) }

// daemon runs a program until the test ends. What it says is told if the test fails.
func (c *Cluster) daemon(t testing.TB, machine, name string, args ...string) {
	t.Helper()
	if name != "sh" {
		name = filepath.Join(Daemons, name)
	}
	d := c.on(machine, append([]string{name}, args...)...)
	var said bytes.Buffer
	d.Stdout, d.Stderr, d.WaitDelay = &said, &said, time.Second
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Process.Kill()
		err := d.Wait()
		if t.Failed() {
			t.Logf("%s %s: %v\n%.4000s", name, machine, err, said.Bytes())
		}
	})
}

// await tries until there is no error.
func (c *Cluster) await(t testing.TB, what string, try func() error) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Since(start) > Budget {
			t.Fatalf("no %s within %v: %v", what, Budget, err)
		}
	}
}

// ask runs a command of Slurm where the controller is.
func (c *Cluster) ask(args ...string) (string, error) {
	cmd := c.on("", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	err := cmd.Start()
	if err == nil {
		timer := time.AfterFunc(Budget, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		timer.Stop()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return out.String(), err
}

// Ask runs a command of Slurm where the controller is, and returns what it says. The test fails
// if the command does.
func (c *Cluster) Ask(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.ask(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// LoadTopology has the controller take another topology.conf.
func (c *Cluster) LoadTopology(t testing.TB, conf []byte) {
	t.Helper()
	if err := os.WriteFile(c.at("topology.conf"), conf, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ask(t, "scontrol", "reconfigure")
}

// freePort is one that nobody listens on now.
func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
