//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestJobLibraryFollowsRules: a program that knows nothing of topocast broadcasts by
// the algorithm that a file of rules has for the size, as the messages show that the library sends.
func TestJobLibraryFollowsRules(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	compiler := os.Getenv("CC")
	if len(launcher) == 0 || compiler == "" {
		t.Skip(launcherVar + " and CC are not set: make test sets them")
	}
	program := compiled(t, compiler, "bcast.c")
	run := func(size int, options ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
		defer cancel()
		args := append(append(append(launcher[1:], "-n", "4"), options...), program, fmt.Sprint(size))
		out, err := exec.CommandContext(ctx, launcher[0], args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if strings.Contains(compiler, "openmpi") {
		followsOpenMPI(t, run)
	} else {
		followsMPICH(t, program, run)
	}
}

// followsOpenMPI counts messages by Open MPI's own monitoring, whose columns are how many messages were of 0 bytes, 1,
// 2, 4, and so on. Around 1 MiB it is a pipeline in segments of 8 KiB: 128 of them along
// the chain 0, 1, 2, 3.
func followsOpenMPI(t *testing.T, run func(size int, options ...string) string) {
	own, forced := nativeReport(t, 4, openMPIVersion, "", 100, 9000), nativeReport(t, 4, openMPIVersion, forcedPipeline, 300, 3000)
	rules := filepath.Join(t.TempDir(), "rules")
	if status, _, stderr := topocast("rules", "--openmpi", rules, own, forced); status != 0 {
		t.Fatal(stderr)
	}
	sent := func(size int, with bool) (found []string) {
		seen := filepath.Join(t.TempDir(), "seen")
		options := []string{"--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3", "--mca", "pml_monitoring_filename", seen}
		if with {
			options = append(options, "--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", rules)
		}
		run(size, options...)
		files, err := filepath.Glob(seen + "*")
		if err != nil || len(files) != 4 {
			t.Fatalf("monitoring of %d ranks, %v", len(files), err)
		}
		const column8KiB = 14
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				fields := strings.Fields(line)
				if len(fields) < 9 || fields[0] != "I" {
					continue
				}
				if n := strings.Split(fields[8], ",")[column8KiB]; n != "0" {
					found = append(found, fields[1]+" to "+fields[2]+": "+n)
				}
			}
		}
		return found
	}
	const pipeline = "0 to 1: 128, 1 to 2: 128, 2 to 3: 128"
	if got := strings.Join(sent(1<<20, true), ", "); got != pipeline {
		t.Errorf("1 MiB by the rules: segments of 8 KiB from %s, want %s", got, pipeline)
	}
	if got := strings.Join(sent(1<<20, false), ", "); got == pipeline {
		t.Error("the library's choice is that pipeline anyway: the test shows nothing")
	}
}

// followsMPICH counts the messages that MPICH hands to UCX, with every rank on a host of its own as far as
// MPICH knows. By default four ranks broadcast along a binomial tree: 3 messages. By the rules long messages are
// scattered, in 3 messages, and collected around the ring, in 3 of each rank, all of a fourth or half
// of the bytes; and the other collectives go on to work.
func followsMPICH(t *testing.T, program string, run func(size int, options ...string) string) {
	const ring = `"MPIR_CVAR_BCAST_INTRA_ALGORITHM":"scatter_ring_allgather"`
	own, forced := nativeReport(t, 4, mpichVersion, "", 100, 9000), nativeReport(t, 4, mpichVersion, ring, 300, 3000)
	linked, err := exec.Command("sh", "-c", `ldd "$0" | awk '$1 ~ /^libmpich/ { print $3 }'`, program).Output()
	if err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "rules.json")
	if status, _, stderr := topocast("rules", "--mpich", rules, "--mpich-library", strings.TrimSpace(string(linked)), own, forced); status != 0 {
		t.Fatal(stderr)
	}
	preload := compiled(t, "cc", "sends.c", "-shared", "-fPIC")
	for _, c := range []struct {
		size                int
		with                bool
		whole, half, fourth int // messages
	}{
		{1 << 20, false, 3, 0, 0},
		{1 << 20, true, 0, 1, 14},
		{8, true, 3, 0, 0},
	} {
		options := []string{"-genv", "LD_PRELOAD", preload, "-genv", "MPIR_CVAR_NOLOCAL", "1"}
		if c.with {
			options = append(options, "-genv", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", rules)
		}
		out := run(c.size, options...)
		count := func(bytes int) (n int) {
			for line := range strings.Lines(out) {
				var rank, sent int
				if k, _ := fmt.Sscanf(line, "sends %d %d", &rank, &sent); k == 2 && sent == bytes {
					n++
				}
			}
			return n
		}
		if whole, half, fourth := count(c.size), count(c.size/2), count(c.size/4); c.size > 8 && (half != c.half || fourth != c.fourth) || whole != c.whole {
			t.Errorf("%d bytes, rules %v: messages of all of it, half and a fourth: %d, %d, %d, want %d, %d, %d in\n%s",
				c.size, c.with, whole, half, fourth, c.whole, c.half, c.fourth, out)
		}
	}
}
