package netlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/topocast/topocast/internal/tooltest"
)

// requireVariable is set where the tests of real labs have to run, as make
// test does. Elsewhere they are skipped: they need root, and they keep a CPU busy.
const requireVariable = "TOPOCAST_REQUIRE_LAB"

var programs tooltest.Programs

func TestMain(m *testing.M) { programs.Main(m) }

// netlabCommand builds the program of cmd/netlab.
func netlabCommand(tb testing.TB) string {
	return programs.Build(tb, "netlab", "go", "build", "./cmd/netlab")
}

// settings are those of labs in a directory of the test.
func settings(t *testing.T) *Settings {
	t.Helper()
	if os.Getenv(requireVariable) == "" {
		t.Skip("a test of real labs: set " + requireVariable + "=1 to run it")
	}
	if err := Available(); err != nil {
		t.Fatal(err)
	}
	return &Settings{Dir: t.TempDir(), Command: netlabCommand(t)}
}

func up(t *testing.T, c *Cluster, s *Settings) *Lab {
	t.Helper()
	l, err := Up(c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Down(c.Name, s); err != nil {
			t.Error(err)
		}
	})
	return l
}

func named(t *testing.T, name string) *Cluster {
	return cluster(t, `"name":"`+name+`","spec":"star:3 latency=100us rate=200Mbps"`)
}

func TestALabCarriesTCPAndCountsIt(t *testing.T) {
	s := settings(t)
	l := up(t, named(t, "counting"), s)
	p := newProber(l)
	defer p.close()
	const bytes = 1_000_000
	err := p.locked(func() error {
		there, back, err := p.latency(0, 1, 10)
		if err != nil {
			return err
		}
		// Nothing is faster than the wires; how much slower is for verify.
		truth, err := newTruth(l.Cluster)
		if err != nil {
			return err
		}
		if least := truth.latency(0, 1); there < least || back < least {
			t.Errorf("a byte takes %g and %g s, want at least %g", there, back, least)
		}
		// TCP sends again what is late: that of a machine that does not keep time tells nothing.
		for begin := time.Now(); ; {
			if _, err := l.Reset(); err != nil {
				return err
			}
			if _, err = p.transfer([]stream{{0, 2, bytes}}); err != nil {
				return err
			}
			c, err := l.Counters()
			if err != nil || c.Loop.OnTime() {
				return err
			}
			t.Log(c.Loop)
			if time.Since(begin) > patience {
				return ErrNotTimed
			}
		}
	})
	if errors.Is(err, ErrNotTimed) {
		tooltest.Lacks(t, "NOT JUDGED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Down()
	if err != nil {
		t.Fatal(err)
	}
	carried := map[string]uint64{}
	for _, link := range c.Links {
		carried[link.From+" "+link.To] = link.Bytes
		if link.Drops > 0 {
			t.Errorf("%s to %s lost %d frames", link.From, link.To, link.Drops)
		}
	}
	for _, link := range []string{"h0 s0", "s0 h2"} {
		if got := carried[link]; got < bytes || got > bytes*102/100 {
			t.Errorf("%s has carried %d bytes, want %d and up to 2 %% of headers", link, got, bytes)
		}
	}
	if got := carried["h1 s0"] + carried["s0 h1"]; got > 1000 {
		t.Errorf("a host that has no part in it has carried %d bytes", got)
	}
}

// No thread of the fabric's program may run where ranks do, whatever it is for.
func TestTheFabricKeepsToItsCPU(t *testing.T) {
	l := up(t, named(t, "keeping"), settings(t))
	if len(l.state.CPUs) == 0 {
		tooltest.Lacks(t, "one CPU only, which ranks and the fabric share")
	}
	c, err := l.Counters() // the loop answers: it has begun
	if err != nil {
		t.Fatal(err)
	}
	var want unix.CPUSet
	want.Set(c.Loop.CPU)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", l.state.PID))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		var got unix.CPUSet
		if err := unix.SchedGetaffinity(id, &got); err != nil {
			t.Error(err)
		} else if got != want {
			t.Errorf("thread %d of %d runs on %d CPUs, want CPU %d alone", id, len(threads), got.Count(), c.Loop.CPU)
		}
	}
	for _, cpu := range l.state.CPUs {
		if want.IsSet(cpu) {
			t.Errorf("CPU %d is that of the fabric and of ranks", cpu)
		}
	}
}

func TestNothingIsMadeOutsideAndDownLeavesNothing(t *testing.T) {
	s := settings(t)
	look := func() []string {
		links, err := net.Interfaces()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, l := range links {
			all = append(all, l.Name)
		}
		for _, key := range []string{"tcp_allowed_congestion_control", "tcp_congestion_control", "tcp_ecn"} {
			b, err := os.ReadFile("/proc/sys/net/ipv4/" + key)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(b))
		}
		return all
	}
	before := look()
	l := up(t, named(t, "clean"), s)
	if during := look(); !slices.Equal(during, before) {
		t.Errorf("with a lab the machine has %q, before %q", during, before)
	}
	sleeper := start(t, l, "h1")
	if _, err := Up(l.Cluster, s); !errors.Is(err, ErrUp) {
		t.Errorf("second Up = %v, want ErrUp", err)
	}
	if _, err := l.Down(); err != nil {
		t.Fatal(err)
	}
	ended(t, sleeper)
	if after := look(); !slices.Equal(after, before) {
		t.Errorf("after Down the machine has %q, before %q", after, before)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) > 0 {
		t.Errorf("after Down the directory holds %v, %v", entries, err)
	}
	if _, err := Open("clean", s); !errors.Is(err, ErrDown) {
		t.Errorf("Open after Down = %v, want ErrDown", err)
	}
}

// start starts a process on a host that would stay for long, by the given
// command, and waits until it is there.
func start(t *testing.T, l *Lab, host string, by ...string) *exec.Cmd {
	t.Helper()
	return background(t, l.Command(host, append(by, "sh", "-c", "echo there; exec sleep 1000")...))
}

// ended waits for the end of the process, by a signal.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	over := time.AfterFunc(patience, func() { cmd.Process.Signal(unix.SIGUSR1) })
	defer over.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.String() != "signal: killed" {
		t.Errorf("the process in the lab ended with %v, want it killed", err)
	}
}

func TestUpAndDownCleanUpAfterAKilledFabric(t *testing.T) {
	s := settings(t)
	c := named(t, "killed")
	kill := func(l *Lab) {
		if err := unix.Kill(l.state.PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := Open(c.Name, s); errors.Is(err, ErrDown) {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	l := up(t, c, s)
	sleeper := start(t, l, "h0")
	kill(l)
	l = up(t, c, s)
	ended(t, sleeper)

	sleeper = start(t, l, "h2")
	kill(l)
	if err := Down(c.Name, s); err != nil {
		t.Fatal(err)
	}
	ended(t, sleeper)
	if _, err := os.Stat(filepath.Join(s.Dir, c.Name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Down the lab's directory: %v, want none", err)
	}
}

func TestLabsDoNotMeet(t *testing.T) {
	s := settings(t)
	one, two := up(t, named(t, "one"), s), up(t, named(t, "two"), s)
	exchange := func(l *Lab) *Counters {
		p := newProber(l)
		defer p.close()
		if err := p.locked(func() error { _, _, err := p.latency(0, 1, 3); return err }); err != nil {
			t.Fatal(err)
		}
		c, err := l.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	exchange(one)
	c, err := two.Counters()
	if err != nil {
		t.Fatal(err)
	}
	if c.Loop.Frames > 0 {
		t.Errorf("traffic of one lab makes %d frames in the other", c.Loop.Frames)
	}
	sleeper := start(t, two, "h0")
	if _, err := one.Down(); err != nil {
		t.Fatal(err)
	}
	if c := exchange(two); c.Loop.Frames == 0 {
		t.Error("no frames in the lab that is left")
	}
	if err := sleeper.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("a process of the lab that is left: %v", err)
	}
}

// started runs the netlab command in the background until it has printed a
// line on standard output.
func started(t *testing.T, s *Settings, args ...string) *exec.Cmd {
	t.Helper()
	return background(t, exec.Command(s.Command, append([]string{"--dir", s.Dir}, args...)...))
}

// background starts a command and waits until it has printed something.
func background(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// patience is how long tests wait for what a machine at rest does in a moment.
const patience = 2 * time.Minute

// gone waits until the condition holds.
func gone(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: still there", what)
		}
	}
}

// escape clears its environment and leaves its parent and session, as daemons do.
const escape = "env -i setsid sleep 1000 & echo there; exec sleep 1000"

func TestALabOfAKilledRunGoes(t *testing.T) {
	s := settings(t)
	file := filepath.Join(t.TempDir(), "leashed.json")
	text := `{"format":"topocast/netlab","version":1,"spec":"star:2"}`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, how := range [][]string{{"--on", "h1"}, {"--mpi", OpenMPI}, {"--mpi", MPICH}} {
		args := append(append([]string{"run"}, how...), file, "--", "sh", "-c", escape)
		run := started(t, s, args...)
		l, err := Open("leashed", s)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.state.processes()) < 2 {
			t.Errorf("%q: processes %v in the lab, want both sleepers", how, l.state.processes())
		}
		run.Process.Kill()
		run.Wait()
		gone(t, "the lab's directory", func() bool {
			_, err := os.Stat(filepath.Join(s.Dir, "leashed"))
			return errors.Is(err, os.ErrNotExist)
		})
		gone(t, "processes of the lab", func() bool { return len(l.state.processes()) == 0 })
	}
}

func TestTheJobOfAKilledRunGoesAndTheLabStays(t *testing.T) {
	s := settings(t)
	l := up(t, named(t, "kept"), s)
	file := filepath.Join(s.Dir, "kept", clusterName)
	other := start(t, l, "h0")
	run := started(t, s, "run", file, "--", "sh", "-c", escape)
	if n := len(l.state.processes()); n < 4 {
		t.Errorf("the lab has %d processes, want those of the job and another one", n)
	}
	run.Process.Kill()
	run.Wait()
	gone(t, "the job", func() bool { return slices.Equal(l.state.processes(), []int{other.Process.Pid}) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := l.RunOn(ctx, "h1", []string{"true"}, nil, io.Discard, io.Discard); err != nil {
		t.Errorf("a program on the lab that stays: %v", err)
	}
}

func TestAJobEndsItsOwnProcessesOnly(t *testing.T) {
	s := settings(t)
	l := up(t, named(t, "shared"), s)
	other := start(t, l, "h0")
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	short := "env -i setsid sleep 1000 >/dev/null 2>&1 </dev/null & true" // the launcher waits for who holds its pipes
	if err := l.Run(ctx, &Job{MPI: OpenMPI, Place: []int{0, 1}, Program: []string{"sh", "-c", short}}, &out, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got, want := l.state.processes(), []int{other.Process.Pid}; !slices.Equal(got, want) {
		t.Errorf("after the job the lab has the processes %v, want %v", got, want)
	}
}

func TestDownEndsProcessesThatClearedTheirEnvironment(t *testing.T) {
	s := settings(t)
	c := named(t, "unmarked")
	for _, fabric := range []string{"alive", "killed"} {
		l := up(t, c, s)
		cmd := start(t, l, "h1", "env", "-i")
		if fabric == "killed" {
			if err := unix.Kill(l.state.PID, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			gone(t, "the fabric", func() bool { _, err := Open(c.Name, s); return errors.Is(err, ErrDown) })
			if got, want := l.state.processes(), []int{cmd.Process.Pid}; !slices.Equal(got, want) {
				t.Errorf("the dead lab has the processes %v, want %v", got, want)
			}
		}
		if err := Down(c.Name, s); err != nil {
			t.Fatal(err)
		}
		ended(t, cmd)
	}
}

func TestUpEndsAFabricThatIsNotReadyInTime(t *testing.T) {
	s := settings(t)
	mute := filepath.Join(t.TempDir(), "mute")
	if err := os.WriteFile(mute, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Up(named(t, "slow"), &Settings{Dir: s.Dir, Command: mute, Timeout: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "not ready after 200ms") {
		t.Errorf("Up = %v, want an error that tells the limit", err)
	}
}

func TestCommandsRunOnTheirHost(t *testing.T) {
	s := settings(t)
	l := up(t, named(t, "hosts"), s)
	out, err := l.Command("h2", "sh", "-c", "uname -n; ls /sys/class/net; grep h1 /etc/hosts").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(out)), []string{"h2", "ctl0", "fab0", "lo", "10.89.0.2", "h1"}; !slices.Equal(got, want) {
		t.Errorf("host h2 says %q, want %q", got, want)
	}
	// Programs take hosts with one boot id for one machine.
	boots := make(map[string]bool)
	for _, host := range []string{"h0", "h1", "h2", "control"} {
		out, err := l.Command(host, "cat", "/proc/sys/kernel/random/boot_id").Output()
		if err != nil {
			t.Fatal(err)
		}
		boots[string(out)] = true
	}
	own, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if boots[string(own)] || len(boots) != 4 {
		t.Errorf("boot ids of four machines = %v, want four other than %q", boots, own)
	}
	_, err = l.Command("h7", "true").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(exit.Stderr), `unknown host "h7": want one of h0, h1, h2, control`) {
		t.Errorf("a command on h7: %v", err)
	}
}

func TestAJobThatHangsIsEnded(t *testing.T) {
	s := settings(t)
	l := up(t, named(t, "hanging"), s)
	over := errors.New("it has hung for long enough")
	for _, library := range []string{OpenMPI, MPICH} {
		ctx, cancel := context.WithCancelCause(t.Context())
		out := &watched{seen: func(text string) {
			if strings.Contains(text, "h0\n") && strings.Contains(text, "h1\n") && strings.Contains(text, "h2\n") {
				cancel(over)
			}
		}}
		late := time.AfterFunc(patience, func() { cancel(context.DeadlineExceeded) })
		err := l.Run(ctx, &Job{MPI: library, Place: []int{0, 1, 2}, Program: []string{"sh", "-c", "uname -n; exec sleep 1000"}}, out, out)
		late.Stop()
		cancel(nil)
		if !errors.Is(err, over) {
			t.Errorf("%s: Run = %v, want %v, after each host has said its name; it says\n%s", library, err, over, &out.text)
		}
		if left := l.state.processes(); len(left) > 0 {
			t.Errorf("%s: processes %v are left", library, left)
		}
	}
}

// watched tells a function of all that has been written so far.
type watched struct {
	text bytes.Buffer
	seen func(text string)
}

func (w *watched) Write(b []byte) (int, error) {
	w.text.Write(b)
	w.seen(w.text.String())
	return len(b), nil
}
