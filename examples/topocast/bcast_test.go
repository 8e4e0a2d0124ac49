package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
)

// interrupted ends a context, as Ctrl-C does, when its rank has received so
// many messages.
type interrupted struct {
	mpi.Communicator
	mpi.Clock
	mpi.Placed
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
	network := discovered(t, "--sim", "tree:2x4 latency=10us,2us rate=10Gbps", "--patterns", "0")
	simulated, _, err := cli.Simulator(nil, "tree:2x4 latency=10us,2us rate=10Gbps", "block", cli.DefaultOverhead, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"--json", ""} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := command(func(ranks int, work func(mpi.Communicator) error) error {
			return simulated(ranks, func(comm mpi.Communicator) error {
				if comm.Rank() == 5 {
					comm = &interrupted{comm, comm.(mpi.Clock), comm.(mpi.Placed), 1000, cancel}
				}
				return work(comm)
			})
		})
		args := []string{"bcast", network, "--sizes", "8,1KiB", "--repetitions", "1000000", "--only", "ours,flat,binomial,chain,multilevel"}
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
		if !got.Stopped || len(got.Rows) != 5 { // those of --only
			t.Fatalf("printed %s", &out)
		}
		for _, r := range got.Rows {
			if r.Bytes != 8 || r.Count < 10 || r.Count > 1000 || !r.Verified || r.Algorithm == "" || r.Predicted == nil || !(*r.Predicted > 0) {
				t.Errorf("row %+v", r)
			}
		}
	}
}

// bcastRows runs bcast on a simulated cluster and returns the rows without
// noise: the algorithms' plans, and their medians.
func bcastRows(t *testing.T, cluster, placement string, args ...string) (rows map[string]float64, stderr string) {
	t.Helper()
	all := append([]string{"bcast", "--sim", cluster, "--placement", placement, "--sizes", "64KiB", "--repetitions", "5", "--json"}, args...)
	status, out, stderr := topocast(all...)
	if status != 0 {
		t.Fatalf("%q: status %d: %s", all, status, stderr)
	}
	var got struct {
		Rows []struct {
			Variant  string
			Median   float64 `json:"median_s"`
			Verified bool
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	rows = make(map[string]float64)
	for _, r := range got.Rows {
		if !r.Verified {
			t.Errorf("%q: %+v", all, r)
		}
		rows[r.Variant] = r.Median
	}
	return rows, stderr
}

// TestBcastOnOtherRanks: a file serves jobs whose ranks run on the same hosts in
// another order, or on part of them, without a word, and as well as the ranks
// that were measured; on other hosts there is a warning.
func TestBcastOnOtherRanks(t *testing.T) {
	const cluster = "tree:4x4 latency=10us,2us rate=10Gbps"
	network := discovered(t, "--sim", cluster, "--patterns", "0")
	compared := []string{"ours", "chain", "multilevel"}
	only := "--only=" + strings.Join(compared, ",")
	block, stderr := bcastRows(t, cluster, "block", network, only)
	if stderr != "" {
		t.Errorf("block: %s", stderr)
	}
	for _, placement := range []string{"cyclic", "shuffled"} {
		rows, stderr := bcastRows(t, cluster, placement, network, only)
		if stderr != "" {
			t.Errorf("%s: %s", placement, stderr)
		}
		for _, variant := range compared {
			// 1 % of noise on each message.
			if got, want := rows[variant], block[variant]; got < 0.9*want || got > 1.1*want {
				t.Errorf("%s, %s: %g s, in block order %g s", placement, variant, got, want)
			}
		}
	}
	hosts := write(t, "hosts", "15\n3\n2\n14\n0\n")
	if _, stderr := bcastRows(t, cluster, hosts, network, "--ranks", "5", "--only", "chain"); stderr != "" {
		t.Errorf("five of the hosts: %s", stderr)
	}
	for _, other := range []string{"tree:5x4 latency=10us,2us rate=10Gbps", "star:17 rate=10Gbps"} {
		if _, stderr := bcastRows(t, other, "block", network, "--only", "chain"); !strings.Contains(stderr, "warning: hosts that were not measured") {
			t.Errorf("%s: %q", other, stderr)
		}
	}
	// A platform file says nothing of ranks.
	platform := write(t, "platform.json", line3)
	if _, stderr := bcastRows(t, "star:3", "block", platform, "--only", "chain"); !strings.Contains(stderr, "does not say where its ranks ran") {
		t.Errorf("platform file: %q", stderr)
	}
	status, _, stderr := topocast("bcast", "--sim", "star:4", platform)
	if status != 2 || !strings.Contains(stderr, "the file has 3 ranks and does not say where they ran, the job has 4") {
		t.Errorf("platform file of 3 for 4 ranks: status %d: %s", status, stderr)
	}
}

// TestLongChoicesAreAnnounced: nobody waits in silence while the plan for a long message is chosen, and --budget limits that.
func TestLongChoicesAreAnnounced(t *testing.T) {
	for _, c := range []struct {
		sizes, only string
		announced   bool
	}{{"8,16MiB", "ours", true}, {"8,1MiB", "ours", false}, {"16MiB", "chain", false}} {
		status, out, stderr := topocast("bcast", "--sim", "star:2", "--sizes", c.sizes, "--repetitions", "1", "--warm-ups", "1", "--only", c.only, "--budget", "7s")
		if announced := strings.Contains(stderr, "choosing the plan for 16 MiB takes up to 7s: see --budget"); status != 0 || announced != c.announced {
			t.Errorf("sizes %s of %s: status %d, announced %v, want %v\n%s\n%s", c.sizes, c.only, status, announced, c.announced, out, stderr)
		}
	}
}
