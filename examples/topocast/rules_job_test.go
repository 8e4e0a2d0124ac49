//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A libraryProbe runs a program that knows nothing of topocast, and counts the messages that its library
// sends by UCX.
type libraryProbe struct {
	launcher         []string
	program, preload string
	version          string // as a report has it
	openMPI          bool
}

func newLibraryProbe(t *testing.T) *libraryProbe {
	t.Helper()
	launcher, compiler := strings.Fields(os.Getenv(launcherVar)), os.Getenv("CC")
	if len(launcher) == 0 || compiler == "" {
		t.Skip(launcherVar + " and CC are not set: make test sets them")
	}
	p := &libraryProbe{launcher: launcher, program: compiled(t, compiler, "bcast.c"), preload: compiled(t, "cc", "sends.c", "-shared", "-fPIC")}
	line, _, _ := strings.Cut(p.run(t, 1, nil), "\n")
	p.version = strings.Join(strings.Fields(line), " ")
	if p.openMPI = strings.HasPrefix(p.version, "Open MPI v"); p.openMPI {
		p.launcher = slices.Concat(launcher, strings.Fields("--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any"))
	} else if !strings.HasPrefix(p.version, "MPICH Version: ") {
		t.Fatalf("library %q", p.version)
	}
	return p
}

// compiled is a program of testdata, or a library.
func compiled(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	out, err := exec.Command(compiler, append([]string{"-o", program, filepath.Join("testdata", source)}, flags...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return program
}

// A broadcast goes from rank 0 to the first ranks of a job.
type broadcast struct {
	bytes, ranks int
	steered      bool // by the rules of the test
}

// run does some broadcasts in a job of n ranks, and returns all that was printed.
func (p *libraryProbe) run(t *testing.T, n int, options []string, all ...broadcast) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	args := slices.Concat(p.launcher[1:], []string{"-n", fmt.Sprint(n)}, options, []string{p.program})
	for _, b := range all {
		args = append(args, fmt.Sprint(b.bytes), fmt.Sprint(b.ranks))
	}
	out, err := exec.CommandContext(ctx, p.launcher[0], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// messages are the numbers of messages of 4 KiB and more in each broadcast, by their sizes.
func (p *libraryProbe) messages(t *testing.T, n int, options []string, all []broadcast) []map[int]int {
	t.Helper()
	preload := []string{"-genv", "LD_PRELOAD", p.preload}
	if p.openMPI {
		preload = []string{"-x", "LD_PRELOAD=" + p.preload}
	}
	found := make([]map[int]int, len(all))
	for i := range found {
		found[i] = make(map[int]int)
	}
	for line := range strings.Lines(p.run(t, n, slices.Concat(options, preload), all...)) {
		var i, size int
		if k, _ := fmt.Sscanf(line, "sends %d %d", &i, &size); k == 2 && size >= 4<<10 {
			found[i][size]++
		}
	}
	return found
}

// A rulesJob is a job on which rules were measured.
type rulesJob struct {
	ranks, hosts int
	settings     [][2]string // of the launcher, by which all reports were set
	options      []string    // of the launcher, besides
}

// follows makes rules from reports that say that an algorithm is the fastest for 1 MiB. It then compares the messages of
// three jobs of n ranks that broadcast: by the library's choice, by that algorithm forced, and by the rules.
// The rules have to be like the forced algorithm for broadcasts that are to be steered, and else like the choice.
func (p *libraryProbe) follows(t *testing.T, job rulesJob, n int, all ...broadcast) {
	t.Helper()
	prefix, set := "", "-genv"
	forced := [][2]string{{"MPIR_CVAR_BCAST_INTRA_ALGORITHM", "scatter_ring_allgather"}}
	if p.openMPI {
		prefix, set = "OMPI_MCA_", "--mca"
		forced = [][2]string{{"coll_tuned_use_dynamic_rules", "1"}, {"coll_tuned_bcast_algorithm", "3"}, {"coll_tuned_bcast_algorithm_segmentsize", "32768"}}
	}
	report := func(settings [][2]string, short, long float64) string {
		var environment []string
		for _, s := range settings {
			environment = append(environment, fmt.Sprintf("%q:%q", prefix+s[0], s[1]))
		}
		return nativeReportOn(t, job.ranks, job.hosts, p.version, strings.Join(environment, ","), short, long)
	}
	options := func(settings [][2]string) []string {
		out := slices.Clone(job.options)
		for _, s := range settings {
			out = append(out, set, s[0], s[1])
		}
		return out
	}
	both := slices.Concat(job.settings, forced)
	file := filepath.Join(t.TempDir(), "rules")
	args := []string{"bcast", "rules", "--openmpi", file}
	if !p.openMPI {
		linked, err := exec.Command("sh", "-c", `ldd "$0" | awk '$1 ~ /^libmpi(ch|_abi)[.]/ { print $3 }'`, p.program).Output()
		if err != nil {
			t.Fatal(err)
		}
		args = []string{"bcast", "rules", "--mpich", file, "--mpich-library", strings.TrimSpace(string(linked))}
	}
	status, printed, stderr := topocast(append(args, report(job.settings, 100, 9000), report(both, 300, 3000))...)
	_, command, ok := strings.Cut(printed, "\n  mpirun ")
	if status != 0 || !ok {
		t.Fatalf("rules: status %d\n%s%s", status, printed, stderr)
	}
	byRules := slices.Concat(job.options, strings.Fields(strings.TrimSuffix(command, "...\n")))

	own, other := p.messages(t, n, options(job.settings), all), p.messages(t, n, options(both), all)
	got := p.messages(t, n, byRules, all)
	for i, b := range all {
		want := own[i]
		if b.steered {
			want = other[i]
		}
		switch {
		case maps.Equal(own[i], other[i]):
			t.Errorf("%+v of %d ranks: the algorithm sends %v, as the library does by itself: nothing is shown", b, n, own[i])
		case !maps.Equal(got[i], want):
			t.Errorf("%s, %+v of %d ranks: sizes of messages, and their numbers, by the rules for %d ranks: %v, want %v",
				p.version, b, n, job.ranks, got[i], want)
		}
	}
}

// TestJobLibraryFollowsRules: the library broadcasts by the rules on communicators of the measured number of ranks, and
// by its own choice on smaller and larger ones, and for sizes that are far from the measured ones.
func TestJobLibraryFollowsRules(t *testing.T) {
	p := newLibraryProbe(t)
	job := rulesJob{ranks: 4, hosts: 4}
	if p.openMPI {
		job.hosts = 1
	} else {
		job.settings = [][2]string{{"MPIR_CVAR_NOLOCAL", "1"}} // as if each rank were on a host of its own
	}
	p.follows(t, job, 4, broadcast{1 << 20, 4, true}, broadcast{64 << 10, 4, false})
	p.follows(t, job, 5, broadcast{1 << 20, 2, false}, broadcast{1 << 20, 3, false}, broadcast{1 << 20, 4, true}, broadcast{1 << 20, 5, false})
}

// TestJobLibraryFollowsRulesOnTwoHosts: the same where a library may broadcast between hosts and within hosts.
func TestJobLibraryFollowsRulesOnTwoHosts(t *testing.T) {
	p := newLibraryProbe(t)
	job := rulesJob{ranks: 4, hosts: 2}
	other := 2 // ranks of a communicator that has no part which the rules name
	if p.openMPI {
		if out, err := exec.Command("unshare", "--uts", "true").CombinedOutput(); err != nil {
			t.Skipf("host names of one's own require root: %v: %s", err, out)
		}
		// Open MPI takes two names for two hosts. Its daemons are started by a program of ours, each under its name.
		agent := filepath.Join(t.TempDir(), "agent")
		const script = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n" +
			"exec unshare --uts sh -c 'hostname \"$0\"; exec sh -c \"$*\"' \"$host\" \"$@\"\n"
		if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("OMPI_MCA_plm_rsh_agent", agent)
		t.Setenv("PRTE_MCA_plm_ssh_agent", agent)
		job.options = []string{"--host", "topocast-a:2,topocast-b:2", "--map-by", "ppr:2:node"}
		if out := p.run(t, 4, job.options); strings.Count(out, "host topocast-a\n") != 2 || strings.Count(out, "host topocast-b\n") != 2 {
			t.Fatalf("want 2 ranks each on topocast-a and topocast-b\n%s", out)
		}
		job.settings = [][2]string{{"coll_han_bcast_dynamic_global_communicator_module", "3"}}
		other = 3
	} else {
		job.settings = [][2]string{{"MPIR_CVAR_NUM_CLIQUES", "2"}} // MPICH's own way to try several hosts on one
	}
	p.follows(t, job, 4, broadcast{1 << 20, 4, true}, broadcast{1 << 20, other, false})
}
