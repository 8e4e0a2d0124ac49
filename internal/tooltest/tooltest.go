// Package tooltest lets other programs judge the files that we write, in tests of any package.
//
// Such a test is called TestTools... and stands in a file *_tools_test.go. It is skipped unless
// TOPOCAST_TOOLS is 1, as make test-tools sets it, which installs the programs before
// (.ci/install-tools); then it fails where one is not there. Lacks is for whatever else a machine may not have, and Long for
// tests that have a shorter form.
package tooltest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Need skips the test unless tools are asked for, and fails it if one of the commands is not
// there.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	if os.Getenv("TOPOCAST_TOOLS") != "1" {
		t.Skip("make test-tools runs it, with TOPOCAST_TOOLS=1")
	}
	for _, c := range commands {
		if _, err := exec.LookPath(c); err != nil {
			t.Fatalf("%v: .ci/install-tools installs what tests of tools need", err)
		}
	}
}

// Run runs a command with the given standard input and returns what it writes to standard
// output. The test fails if the command does, or has not ended within the budget.
func Run(t testing.TB, budget time.Duration, input, command string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	c := exec.CommandContext(ctx, command, args...)
	c.WaitDelay = time.Second // for what it has started
	var output, complaints bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &output, &complaints
	if err := c.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Fatalf("%s: no end within %v", c, budget)
		}
		t.Fatalf("%s: %v\n%s%s", c, err, complaints.Bytes(), output.Bytes())
	}
	return output.String()
}

// Lacks ends a test for which this machine lacks something: it is skipped, or fails where CI=true requires all.
func Lacks(t testing.TB, format string, arguments ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format+", and CI=true requires it", arguments...)
	}
	t.Skipf(format, arguments...)
}

// Long reports whether tests take their long forms, of all seeds and sizes: where TOPOCAST_LONG is 1, as make sets it for all that it
// runs, or CI is true, and not with -short. A plain go test, which is to end soon, tries the same on less.
func Long() bool {
	return (os.Getenv("TOPOCAST_LONG") == "1" || os.Getenv("CI") == "true") && !testing.Short()
}
