package encode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/tooltest"
)

// Slurm's controller and what it needs, as Debian installs them; daemons are in no user's PATH.
const slurmDaemons = "/usr/sbin"

// slurmBudget is how long a controller may take to be up, and to answer; on a quiet machine it takes
// a second, with 5,884 nodes two.
const slurmBudget = 2 * time.Minute

// daemon runs a program until the test ends. What it says is told if the test fails.
func daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, filepath.Join(slurmDaemons, name), args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, time.Second
	if err := c.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		err := c.Wait()
		if t.Failed() {
			t.Logf("%s: %v\n%.4000s", name, err, said.Bytes())
		}
	})
}

// freePort is one that nobody listens on now.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// slurmShows starts a controller of Slurm with the hosts of a fabric and a topology.conf, and
// returns what scontrol shows of it. It does not pass its own tree on: the fabric names the nodes only.
func slurmShows(t *testing.T, f *Fabric, conf string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	slurmConf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=localhost
SlurmUser=%s
AuthType=auth/munge
AuthInfo=socket=%s
StateSaveLocation=%s
SlurmctldPidFile=%s
SlurmctldPort=%d
SlurmdPort=%d
TopologyPlugin=topology/tree
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/pgid
MailProg=/bin/true
NodeName=%s NodeAddr=localhost State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES
`, me.Username, at("munge.socket"), at("state"), at("slurmctld.pid"), freePort(t), freePort(t), hostlist.Format(f.Hosts()))
	for file, text := range map[string]string{"slurm.conf": slurmConf, "topology.conf": conf, "munge.key": strings.Repeat("of a test ", 13)} {
		if err := os.WriteFile(at(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(at("state"), 0o700), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	daemon(t, "munged", "--foreground", "--force", "--socket", at("munge.socket"), "--key-file", at("munge.key"),
		"--pid-file", at("munged.pid"), "--log-file", at("munged.log"), "--seed-file", at("munged.seed"))
	t.Setenv("SLURM_CONF", at("slurm.conf"))
	until := time.Now().Add(slurmBudget)
	for ; ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(at("munge.socket")); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("munged has made no socket within %v", slurmBudget)
		}
	}
	daemon(t, "slurmctld", "-D", "-c", "-f", at("slurm.conf"))
	for {
		ctx, cancel := context.WithDeadline(t.Context(), until)
		out, err := exec.CommandContext(ctx, "scontrol", "show", "topology").CombinedOutput()
		cancel()
		if err == nil {
			return string(out)
		}
		if time.Now().After(until) {
			t.Fatalf("scontrol: %v\n%s", err, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkSlurm has Slurm load the topology.conf of a fabric and compares the switches that it
// shows: their tiers, their hosts and the switches below.
func checkSlurm(t *testing.T, f *Fabric) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSlurmConf(&b, f); err != nil {
		t.Fatal(err)
	}
	shown := slurmShows(t, f, b.String())
	var got []string
	for line := range strings.Lines(shown) {
		values := map[string]string{}
		for _, field := range strings.Fields(line) {
			key, value, _ := strings.Cut(field, "=")
			values[key] = value
		}
		got = append(got, fmt.Sprintf("%s tier %s hosts %s switches %s", values["SwitchName"], values["Level"], ordered(t, values["Nodes"]), ordered(t, values["Switches"])))
	}
	full, err := f.withLeaves()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	tier, below := map[*FabricSwitch]int{}, map[*FabricSwitch][]string{}
	full.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		below[s] = slices.Clone(s.Hosts)
		for _, c := range s.Switches {
			tier[s] = max(tier[s], tier[c]+1)
			below[s] = append(below[s], below[c]...)
		}
		slices.Sort(below[s])
		names := s.names()
		slices.Sort(names)
		want = append(want, fmt.Sprintf("%s tier %d hosts %s switches %s", s.Name, tier[s], strings.Join(below[s], ","), strings.Join(names, ",")))
	})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("Slurm shows\n%.2000s\nwant\n%.2000s\nof\n%.2000s", strings.Join(got, "\n"), strings.Join(want, "\n"), b.String())
	}
}

// ordered is a hostlist of Slurm written out, in order.
func ordered(t *testing.T, list string) string {
	if list == "" {
		return ""
	}
	names, err := expandHostlist(list, maxNames)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Slurm has the tree that we wrote: of uneven depth, and of networks that are not connected.
func TestToolsSlurmLoadsTrees(t *testing.T) {
	tooltest.Need(t, slurmDaemons+"/slurmctld", slurmDaemons+"/munged", "scontrol")
	leaf := func(name string, hosts ...string) *FabricSwitch { return &FabricSwitch{Name: name, Hosts: hosts} }
	for name, f := range map[string]*Fabric{
		"uneven":            unevenFabric(),
		"one switch":        {Roots: []*FabricSwitch{leaf("root", "n1", "n2")}},
		"separate networks": {Roots: []*FabricSwitch{unevenFabric().Roots[0], leaf("root-2", "x1", "x2"), leaf("root-3", "y")}},
	} {
		t.Run(name, func(t *testing.T) { checkSlurm(t, f) })
	}
}

// Slurm reads lists of names as we do.
func TestToolsSlurmExpandsHostlists(t *testing.T) {
	tooltest.Need(t, "scontrol")
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(conf, []byte("ClusterName=test\nSlurmctldHost=localhost\nNodeName=n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	for _, list := range []string{
		"tux[0-3,12,18-20]", "rack[0-1]_blade[08-09]", "a,b[1,2],c", "n[007-010]", "n[098-100]", "n[8-11]", "[1-3]", "r1n[1-2],r2n1",
		hostlist.Format(strings.Fields("tux8 tux08 tux9 tux099 tux100 tux0100 login n1-ib0 n2-ib0")),
	} {
		want := strings.Fields(tooltest.Run(t, slurmBudget, "", "scontrol", "show", "hostnames", list))
		if got, err := expandHostlist(list, maxNames); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; Slurm has %v", list, got, err, want)
		}
	}
}
