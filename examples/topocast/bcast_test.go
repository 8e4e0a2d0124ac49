package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// interrupted ends a context, as Ctrl-C does, when its rank has received so
// many messages.
type interrupted struct {
	mpi.Communicator
	mpi.Clock
	mpi.Named
	left int
	end  func()
}

func (c *interrupted) Recv(buf []byte, src, tag int) error {
	if c.left--; c.left == 0 {
		c.end()
	}
	return c.Communicator.Recv(buf, src, tag)
}

// TestBcastInterrupted: what was timed until Ctrl-C is printed, and the status
// is 0, as after a whole run.
func TestBcastInterrupted(t *testing.T) {
	network := discovered(t, "--sim", "tree:2x4 latency=10us,2us rate=10Gbps")
	simulated, err := simulator("tree:2x4 latency=10us,2us rate=10Gbps", "block", defaultOverhead)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"--json", ""} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := command(func(ranks int, work func(mpi.Communicator) error) error {
			return simulated(ranks, func(comm mpi.Communicator) error {
				if comm.Rank() == 5 {
					comm = &interrupted{comm, comm.(mpi.Clock), comm.(mpi.Named), 1000, cancel}
				}
				return work(comm)
			})
		})
		args := []string{"bcast", "--network", network, "--sizes", "8,1KiB", "--reps", "1000000"}
		if format != "" {
			args = append(args, format)
		}
		var out, stderr bytes.Buffer
		c.SetArgs(args)
		c.SetOut(&out)
		c.SetErr(&stderr)
		if err := c.ExecuteContext(ctx); err != nil {
			t.Fatal(err)
		}
		if format == "" {
			if !strings.Contains(out.String(), "stopped before all was timed") || !strings.Contains(out.String(), "multilevel") {
				t.Errorf("printed %s", &out)
			}
			continue
		}
		var got struct {
			Stopped bool
			Rows    []struct {
				Bytes     int
				Count     int
				Verified  bool
				Algorithm string
				Predicted *float64 `json:"predicted_s"`
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %s", err, &out)
		}
		if !got.Stopped || len(got.Rows) != 5 { // ours, flat, binomial, chain, multilevel
			t.Fatalf("printed %s", &out)
		}
		for _, r := range got.Rows {
			if r.Bytes != 8 || r.Count < 10 || r.Count > 1000 || !r.Verified || r.Algorithm == "" || r.Predicted == nil || !(*r.Predicted > 0) {
				t.Errorf("row %+v", r)
			}
		}
	}
}
