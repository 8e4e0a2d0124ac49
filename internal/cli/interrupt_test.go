package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// interrupted tells the test below to be the program that is interrupted.
const interrupted = "CLI_TEST_INTERRUPTED"

// TestSecondSignalEndsTheProcess: the first one ends the context, its echo does nothing, and a later one does not wait for
// what the first has begun. In a launched job no number of signals ends the process.
func TestSecondSignalEndsTheProcess(t *testing.T) {
	if os.Getenv(interrupted) != "" {
		root := &cobra.Command{Use: "topocast"}
		root.AddCommand(Measures(&cobra.Command{Use: "measure", Run: func(c *cobra.Command, _ []string) {
			fmt.Println("begun")
			<-c.Context().Done()
			time.Sleep(2 * oneInterrupt)
			fmt.Println("goes on")
			bufio.NewReader(os.Stdin).ReadString('\n')
			fmt.Println("done")
		}}))
		new(Flags).Add(root)
		os.Exit(Execute(root, []string{"measure"}, io.Discard, io.Discard))
	}
	for _, launched := range []bool{false, true} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSecondSignalEndsTheProcess$")
		cmd.Env = append(os.Environ(), interrupted+"=yes")
		if launched {
			cmd.Env = append(cmd.Env, "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1")
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		says := func(want string) {
			t.Helper()
			if lines.Scan(); lines.Text() != want {
				t.Errorf("launched %v: it says %q, want %q", launched, lines.Text(), want)
			}
		}
		says("begun")
		cmd.Process.Signal(os.Interrupt)
		cmd.Process.Signal(os.Interrupt) // its echo
		says("goes on")
		cmd.Process.Signal(os.Interrupt)
		want := "signal: interrupt"
		if launched {
			want = "exit status 0"
			fmt.Fprintln(in)
			says("done")
		}
		cmd.Wait()
		late.Stop()
		if got := cmd.ProcessState.String(); got != want {
			t.Errorf("launched %v: it ended with %s, want %s", launched, got, want)
		}
	}
}

// TestOnlyMeasurementsCatchSignals: a command that measures nothing has nothing to keep. Its first signal ends the process.
func TestOnlyMeasurementsCatchSignals(t *testing.T) {
	caught := make(map[string]bool)
	root := &cobra.Command{Use: "topocast"}
	note := func(c *cobra.Command, _ []string) { caught[c.Name()] = c.Context().Done() != nil }
	root.AddCommand(Measures(&cobra.Command{Use: "measure", Run: note}), &cobra.Command{Use: "show", Run: note})
	new(Flags).Add(root)
	for _, args := range [][]string{{"measure"}, {"show"}} {
		if status := Execute(root, args, io.Discard, io.Discard); status != StatusFine {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	if !caught["measure"] || caught["show"] {
		t.Errorf("signals are caught for %v, want measure alone", caught)
	}
}
