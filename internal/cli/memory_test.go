package cli

import (
	"errors"
	"math"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// TestMemoryOfEachHost: the ranks of a host share what it has, of measurements the least counts, and all ranks leave with
// the same error.
func TestMemoryOfEachHost(t *testing.T) {
	const gib = 1 << 30
	unknown := int64(math.MaxInt64)
	for _, c := range []struct {
		name      string
		hosts     []string
		available []int64
		bytes     int
		want      string
	}{
		{"nine tenths of one host", []string{"a", "a"}, []int64{20 * gib, 20 * gib}, 9 * gib, ""},
		{"and no byte more", []string{"a", "a"}, []int64{20 * gib, 20 * gib}, 9*gib + 1, "--sizes: 9.0 GiB: the buffers of 2 ranks on a take 18 GiB: want at most 90 % of the 20 GiB available there"},
		{"two hosts", []string{"a", "b", "a", "b"}, []int64{20 * gib, 20 * gib, 20 * gib, 20 * gib}, 9 * gib, ""},
		{"the second host is full", []string{"a", "b", "a", "b"}, []int64{20 * gib, 7 * gib, 20 * gib, 8 * gib}, 4 * gib, "--sizes: 4.0 GiB: the buffers of 2 ranks on b take 8.0 GiB: want at most 90 % of the 7.0 GiB available there"},
		{"one tells nothing", []string{"a", "b", "a", "a"}, []int64{64 * gib, unknown, 64 * gib, 64 * gib}, 10 * gib, ""},
	} {
		said := make([]string, len(c.hosts))
		err := local.Run(len(c.hosts), nil, func(comm mpi.Communicator) error {
			r := comm.Rank()
			err := checkHosts(comm, c.bytes, c.hosts[r], c.available[r])
			var input *InputError
			if err != nil {
				said[r] = err.Error()
				if !errors.As(err, &input) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for rank, got := range said {
			if got != c.want {
				t.Errorf("%s: rank %d: %q, want %q", c.name, rank, got, c.want)
			}
		}
	}
}
