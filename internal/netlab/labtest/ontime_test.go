//go:build linux

package labtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/tooltest"
)

const requireVariable = "TOPOCAST_REQUIRE_LAB"

var programs tooltest.Programs

// TestMain is a rank of a job, or tells in the end again what was wrong: much is printed in between.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asRanks {
		if err := rank(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	programs.Main(m, func() { fmt.Print(wrong) })
}

// wrong is what made judge fail tests, or leave them open.
var wrong string

// requireLab skips a test where labs are not asked for, and fails it where they cannot be made.
func requireLab(tb testing.TB) {
	tb.Helper()
	if os.Getenv(requireVariable) == "" {
		tb.Skip("wants real labs: set " + requireVariable + "=1 to run it")
	}
	if err := netlab.Available(); err != nil {
		tb.Fatal(err)
	}
}

// build builds the program of a folder for all MPI libraries.
func build(tb testing.TB, folder string) string {
	tb.Helper()
	return programs.Build(tb, filepath.Base(folder), "go", "build", folder)
}

const (
	topocastFolder = "../../../examples/topocast"
	papersFolder   = "../../../examples/papers"
)

// labSettings are those of labs that go with the test.
func labSettings(tb testing.TB) *netlab.Settings {
	requireLab(tb)
	return &netlab.Settings{Dir: tb.TempDir(), Command: programs.Build(tb, "netlab", "go", "build", "../cmd/netlab"), Leash: true}
}

// labUp starts a lab of the given fields of a cluster file until the end of the test.
func labUp(tb testing.TB, s *netlab.Settings, name, fields string) *netlab.Lab {
	tb.Helper()
	c, err := netlab.DecodeCluster(strings.NewReader(`{"format":"topocast/netlab","version":1,`+fields+`}`), "", name)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := netlab.Up(c, s)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if _, err := l.Down(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// jobLimit is how long a job of a test may take. On an idle machine none takes half a minute.
const jobLimit = 5 * time.Minute

// runJob runs a job and reads the report that it writes to the file named by its last
// argument. It returns how the fabric has kept time, since the job's last reset of it if there is one.
func runJob(tb testing.TB, l *netlab.Lab, job *netlab.Job, limit time.Duration, report any) (fabric netlab.Loop) {
	tb.Helper()
	if _, err := l.Reset(); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(tb.Context(), limit, fmt.Errorf("no end within %v", limit))
	defer cancel()
	var out strings.Builder
	if err := l.Run(ctx, job, &out, &out); err != nil {
		tb.Fatalf("%v\n%s", err, out.String())
	}
	c, err := l.Counters()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(job.Program[len(job.Program)-1])
	if err == nil {
		err = json.Unmarshal(text, report)
	}
	if err != nil {
		tb.Fatalf("%v\n%s", err, out.String())
	}
	return c.Loop
}

// wasted is the time of all attempts so far that showed nothing, and patience how long that may
// take in all: no test makes another attempt then, so that the tests end on every machine.
var wasted time.Duration

const patience = 8 * time.Minute

// notJudged ends a test of which nothing is known, as the fabric's counters prove that the machine
// did not keep time. CI=true requires all tests, and fails.
func notJudged(t *testing.T, why any) {
	t.Helper()
	wrong += fmt.Sprintf("%s: NOT JUDGED: %v\n", t.Name(), why)
	tooltest.Lacks(t, "NOT JUDGED: %v", why)
}

// judge makes attempts at what depends on time until one finds no fault. The test fails when
// as many as most attempts had faults although the fabric has kept time. It is not judged where
// there was no such attempt until patience was at its end.
func judge(t *testing.T, most int, try func() (faults []string, fabric netlab.Loop)) {
	t.Helper()
	onTime := 0
	for attempt := 1; ; attempt++ {
		begin := time.Now()
		faults, fabric := try()
		kept := "on time"
		if !fabric.OnTime() {
			kept = "LATE"
		}
		t.Logf("attempt %d, the fabric was %s: %s", attempt, kept, fabric)
		if len(faults) == 0 {
			return
		}
		t.Log(strings.Join(faults, "\n"))
		if fabric.OnTime() {
			onTime++
		} else {
			wasted += time.Since(begin)
		}
		switch over := !fabric.OnTime() && wasted > patience; {
		case onTime == most, over && onTime > 0:
			wrong += fmt.Sprintf("%s: %s\n", t.Name(), strings.Join(faults, "\n"))
			t.Fatalf("%d of %d attempts failed while the fabric was on time", onTime, attempt)
		case over:
			notJudged(t, fmt.Sprintf("in none of %d attempts was the fabric on time", attempt))
		}
	}
}

// TestJudge: the machine is 2 % late or more in those that are late.
func TestJudge(t *testing.T) {
	if os.Getenv(judged) != "" {
		wasted = patience
		outcomes := strings.Split(os.Getenv(judged), " ")
		judge(t, 2, func() (faults []string, fabric netlab.Loop) {
			now := outcomes[0]
			outcomes = outcomes[1:]
			fabric.Elapsed = 1
			if now == "late" {
				fabric.Stalled = 0.03
			}
			if now != "good" {
				faults = []string{"a fault"}
			}
			return faults, fabric
		})
		return
	}
	for _, c := range []struct{ outcomes, ci, want string }{
		{"good", "true", "--- PASS"},
		{"bad good", "true", "--- PASS"},
		{"bad bad", "", "--- FAIL"},
		{"bad bad", "", "FAIL\nTestJudge: a fault\n"},
		{"late", "", "PASS\nTestJudge: NOT JUDGED: "},
		{"late", "", "--- SKIP"},
		{"late", "true", "--- FAIL"},
		{"bad late", "", "--- FAIL"},
		{"late good", "", "--- SKIP"}, // there is no patience left
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestJudge$", "-test.v")
		cmd.Env = append(os.Environ(), judged+"="+c.outcomes, "CI="+c.ci)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("attempts %q, CI=%s: %v, want %s:\n%s", c.outcomes, c.ci, err, c.want, out)
		}
	}
}

// judged tells TestJudge to be what it judges.
const judged = "LABTEST_JUDGED"
