package smpi

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Available says why smpirun cannot be run, nil if it can.
func Available() error {
	_, err := exec.LookPath("smpirun")
	return err
}

// A Replay has smpirun play traces of so many ranks on a platform, with the
// settings with which the times of Recorded were taken.
type Replay struct {
	Ranks    int
	Platform string // file
	Hosts    string // host file
}

// Seconds is the simulated time in s until the last rank has done what the trace
// file says, which holds the steps of all ranks.
func (r Replay) Seconds(ctx context.Context, trace string) (float64, error) {
	trace, err := filepath.Abs(trace)
	if err != nil {
		return 0, err
	}
	list := trace + ".list" // of one file for all ranks
	if err := os.WriteFile(list, []byte(trace+"\n"), 0o600); err != nil {
		return 0, err
	}
	costs := fmt.Sprintf("0:%g:0", overhead)
	run := exec.CommandContext(ctx, "smpirun", "-np", strconv.Itoa(r.Ranks), "-platform", r.Platform, "-hostfile", r.Hosts,
		"--cfg=smpi/simulate-computation:no", "--cfg=smpi/os:"+costs, "--cfg=smpi/or:"+costs, "--cfg=smpi/ois:"+costs,
		"--cfg=smpi/display-timing:yes", "-replay", list)
	run.Dir = filepath.Dir(trace)
	out, err := run.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("smpi: replay: %w\n%s", err, bytes.TrimSpace(out))
	}
	match := simulated.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("smpi: replay: no simulated time in\n%s", bytes.TrimSpace(out))
	}
	return strconv.ParseFloat(string(match[1]), 64)
}

var simulated = regexp.MustCompile(`Simulated time: ([0-9.e+-]+) seconds`)
