package main

import (
	"bytes"
	"os"
	"testing"
)

// commandVar is set in a process that is to be the program, not its test.
const commandVar = "TOPOCAST_TEST_MAIN"

// TestMain lets the test binary be the program itself, as a rank of a job.
func TestMain(m *testing.M) {
	if os.Getenv(commandVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// papers runs the program and returns its status and output.
func papers(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}
