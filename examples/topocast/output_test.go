//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// writers are the commands that write files, over a small simulated cluster;
// the flag for the file and its name are to follow.
func writers(t *testing.T) [][]string {
	latencies := write(t, "latencies.csv", twoPairs)
	return [][]string{
		{"discover", "--patterns", "0", "--sim", "tree:2x2", "--repetitions", "1", "--output"},
		{"discover", "--patterns", "0", "--sim", "tree:2x2", "--repetitions", "1", "--keep"},
		{"measure", "--sim", "tree:2x2", "-o"},
		{"measure", "--sim", "tree:2x2", "--csv"},
		{"reconstruct", latencies, "--output"},
	}
}

// TestOutputIsWrittenIntoLinksAndPipes: what is there stays what it is.
func TestOutputIsWrittenIntoLinksAndPipes(t *testing.T) {
	for _, args := range writers(t) {
		t.Chdir(t.TempDir()) // for the file that is not named
		if err := os.Symlink("behind", "link"); err != nil {
			tooltest.Lacks(t, "%v", err)
		}
		status, _, stderr := topocast(append(args, "link")...)
		if _, err := os.Readlink("link"); err != nil || status != 0 {
			t.Errorf("%q: status %d: %s, the link: %v", args, status, stderr, err)
		}
		if b, err := os.ReadFile("behind"); err != nil || len(b) == 0 {
			t.Errorf("%q: behind the link: %v", args, err)
		}
		read := make(chan int)
		if err := syscall.Mkfifo("pipe", 0o644); err == nil {
			go func() {
				b, _ := os.ReadFile("pipe")
				read <- len(b)
			}()
			status, _, stderr := topocast(append(args, "pipe")...)
			if n := <-read; status != 0 || n == 0 {
				t.Errorf("%q: status %d: %s, %d bytes through the pipe", args, status, stderr, n)
			}
		}
		// As root, this would replace the device.
		status, _, stderr = topocast(append(args, os.DevNull)...)
		if info, err := os.Stat(os.DevNull); status != 0 || err != nil || info.Mode()&fs.ModeDevice == 0 {
			t.Fatalf("%q %s: status %d: %s, mode %v, %v", args, os.DevNull, status, stderr, info, err)
		}
	}
}

// TestOutputToStandardOutput: the file alone goes there, the report elsewhere.
func TestOutputToStandardOutput(t *testing.T) {
	for i, args := range writers(t) {
		t.Chdir(t.TempDir())
		status, out, stderr := topocast(append(args, "-")...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr)
		}
		var err error
		switch i {
		case 0:
			_, err = model.Read(strings.NewReader(out))
		case 4:
			_, err = model.Read(strings.NewReader(out))
		case 3:
			if !strings.HasSuffix(out, ",\n") {
				err = errors.New(out)
			}
		default:
			_, err = measure.ReadResult(strings.NewReader(out))
		}
		if err != nil || !strings.Contains(stderr, "ranks") && !strings.Contains(stderr, "endpoints") {
			t.Errorf("%q: %v, stderr %q, want the report there", args, err, stderr)
		}
		if _, err := os.Stat("-"); err == nil {
			t.Errorf("%q made a file named -", args)
		}
	}
	if status, _, stderr := topocast("discover", "--patterns", "0", "--sim", "star:4", "--json", "--output", "-"); status != 2 || !strings.Contains(stderr, "--json") {
		t.Errorf("--json and --output -: status %d: %s", status, stderr)
	}
}

// TestOutputIsCheckedBeforeMeasuring: a target that cannot be written ends the
// run at its start, with one line, whatever the rank.
func TestOutputIsCheckedBeforeMeasuring(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range writers(t) {
		for _, target := range []string{"missing/file", "."} {
			status, out, stderr := topocast(append(args, target)...)
			if status != 2 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, " "+target+":") || !strings.Contains(stderr, "--") {
				t.Errorf("%q %s: status %d, %q, %q, want 2 and a line with the flag and the file", args, target, status, out, stderr)
			}
		}
	}
	status, _, stderr := topocast("measure", "--sim", "tree:2x2", "--output", "x", "--csv", "x")
	if status != 2 || !strings.Contains(stderr, "--output and --csv: both are x") {
		t.Errorf("one file twice: status %d: %s", status, stderr)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("files %v, %v, want none", left, err)
	}
}

// A fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullStandardOutput: nobody has seen what was found, and the error says why, alike for all commands.
func TestFullStandardOutput(t *testing.T) {
	network := filepath.Join(t.TempDir(), "network.json")
	for _, args := range [][]string{
		{"discover", "--sim", "tree:2x2", "--output", network},
		{"show", network},
		{"predict", network, "0", "1", "1MB", "--json"},
		{"compare", network, "--against", network},
		{"network", "bisect", network},
	} {
		var stderr strings.Builder
		status := cli.Execute(command(cli.RunJob), args, fullDisk{}, &stderr)
		if status != cli.StatusFailed || stderr.String() != "topocast: standard output: no space left on device\n" {
			t.Errorf("%q: status %d, %q", args, status, stderr.String())
		}
	}
}

// TestFailedSaveKeepsTheMeasurement: /dev/full may be opened and takes nothing.
func TestFailedSaveKeepsTheMeasurement(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	for i, args := range writers(t) {
		t.Chdir(t.TempDir())
		status, out, stderr := topocast(append(args, "/dev/full")...)
		_, at, named := strings.Cut(strings.TrimSpace(stderr[max(0, strings.LastIndex(stderr, "topocast: ")):]), "kept in ")
		if status != 1 || !strings.Contains(out, "ranks") && !strings.Contains(out, "endpoints") || !named || !strings.Contains(stderr, "/dev/full: no space left on device") {
			t.Fatalf("%q: status %d, %q, %q, want 1, the report and where the file is", args, status, out, stderr)
		}
		var err error
		switch i {
		case 0:
			_, err = model.Load(at)
			if !strings.Contains(out, "written to "+at) {
				t.Errorf("%q reports %s", args, out)
			}
		case 3:
			_, err = os.Stat(at)
		case 4:
			_, err = model.Load(at)
		default:
			_, err = measure.ReadFile(at)
		}
		if err != nil {
			t.Errorf("%q: what was kept: %v", args, err)
		}
	}
}

// full is standard output on a device without room after some bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no room")
	}
	return len(p), nil
}

// TestFailingStandardOutputIsNoticed by every command, also late in its output.
func TestFailingStandardOutputIsNoticed(t *testing.T) {
	t.Chdir(t.TempDir())
	network := discovered(t, "--sim", "tree:2x2")
	matrix := write(t, "m.csv", twoPairs)
	transfers := write(t, "transfers.json", `{"transfers":[{"src":0,"dst":3,"bytes":1000000}]}`)
	for _, args := range [][]string{
		{"--help"},
		{"--version"},
		{"predict", "--help"},
		{"discover", "--patterns", "0", "--sim", "tree:2x2"},
		{"discover", "--patterns", "0", "--sim", "tree:2x2", "--json"},
		{"measure", "--sim", "tree:2x2"},
		{"bcast", "--sim", "tree:2x2", "--sizes", "8", "--repetitions", "1"},
		{"bcast", "--sim", "tree:2x2", "--sizes", "8", "--repetitions", "1", "--json"},
		{"reconstruct", "--unit", "us", matrix},
		{"reconstruct", "--unit", "us", "--json", matrix},
		{"compare", network, network},
		{"compare", "--json", network, network},
		{"predict", network, transfers},
		{"predict", "--json", network, transfers},
		{"place", network},
		{"place", "--format", "rankfile", network},
		{"place", "--json", network},
	} {
		var whole bytes.Buffer
		if status := run(args, &whole, io.Discard); status != 0 || whole.Len() == 0 {
			if args[0] == "place" && args[1] == "--format" {
				continue // simulated hosts have no cores
			}
			t.Errorf("%q: status %d, %d bytes", args, status, whole.Len())
			continue
		}
		for _, room := range []int{0, whole.Len() - 1} {
			var stderr bytes.Buffer
			if status := run(args, &full{room}, &stderr); status != 1 || !strings.Contains(stderr.String(), "no room") {
				t.Errorf("%q with room for %d of %d bytes: status %d, %q, want 1", args, room, whole.Len(), status, &stderr)
			}
		}
	}
	if b, err := os.ReadFile("simulated-network.json"); err != nil || !json.Valid(b) {
		t.Errorf("the network was not kept: %v", err)
	}
}

// The end of the other ranks, while rank 0 tells whether it found a mistake in what the caller gave, is none.
func TestFailureOfOthersIsNoWrongInput(t *testing.T) {
	for name, work := range map[string]func(comm mpi.Communicator) error{
		"discover --hwloc": func(comm mpi.Communicator) error {
			_, err := discover(t.Context(), comm, &discoverOptions{hwloc: "host.xml"}, io.Discard)
			return err
		},
		"check --history": func(comm mpi.Communicator) error {
			return new(checkOptions).take(new(cobra.Command), comm, 0)
		},
	} {
		gone := errors.New("gone")
		err := local.Run(2, nil, func(comm mpi.Communicator) error {
			if comm.Rank() == 0 {
				return gone
			}
			err := work(comm)
			var input *cli.InputError
			if err == nil || errors.As(err, &input) {
				t.Errorf("%s: %v: want a failed run", name, err)
			}
			return err
		})
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
