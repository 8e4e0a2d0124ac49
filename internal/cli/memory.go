package cli

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/topocast/topocast/internal/hostmemory"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/mpi"
)

// harmless is what buffers of a job take in B without anybody asking whether there is memory for them: so jobs of
// usual sizes exchange no message for that.
const harmless = 1 << 30

// mostMemory is the share of a host's available memory that buffers get at most: the library, and other programs, need some.
const mostMemory = 0.9

// CheckMemory refuses --sizes of which a buffer on every rank, of the longest, is more than a host has memory for. It is
// collective, and comes before any buffer is made; sizes are equal on all ranks. Ranks without a launcher, simulated ones,
// too, are all in this process. Hosts that do not tell what they have are passed over.
func CheckMemory(comm mpi.Communicator, sizes []int) error {
	longest := slices.Max(sizes)
	if longest <= harmless/comm.Size() {
		return nil
	}
	host := "this host"
	if placed, ok := comm.(mpi.Placed); ok && mpi.Launched() >= 0 {
		host = placed.Place().Host
	}
	available, known := hostmemory.Available()
	if !known {
		available = math.MaxInt64 // more than any
	}
	return checkHosts(comm, longest, host, available)
}

// checkHosts is CheckMemory with what is known of the caller's host.
func checkHosts(comm mpi.Communicator, longest int, host string, available int64) error {
	var hosts []*hostRoom
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(available)), host...)
	err := share.Star(comm, 0, 0).Gather(data, func(_ int, data []byte) error {
		if len(data) < 8 {
			return fmt.Errorf("%d bytes of a rank: want at least 8", len(data))
		}
		name, has := string(data[8:]), int64(binary.LittleEndian.Uint64(data))
		i := slices.IndexFunc(hosts, func(h *hostRoom) bool { return h.name == name })
		if i < 0 {
			i, hosts = len(hosts), append(hosts, &hostRoom{name: name, available: has})
		}
		hosts[i].ranks++
		hosts[i].available = min(hosts[i].available, has)
		return nil
	})
	if err != nil {
		return fmt.Errorf("memory of the hosts: %w", err)
	}
	var found error
	for _, h := range hosts { // none but on rank 0
		if found = h.holds(longest); found != nil {
			break
		}
	}
	return Agree(comm, "memory of the hosts", found)
}

// A hostRoom is a host, how many ranks run on it, and the memory that it has for them in B.
type hostRoom struct {
	name      string
	ranks     int
	available int64
}

// holds refuses a buffer for each rank that the memory does not hold.
func (h *hostRoom) holds(bytes int) error {
	if float64(bytes)*float64(h.ranks) <= mostMemory*float64(h.available) {
		return nil
	}
	need := new(big.Int).Mul(big.NewInt(int64(bytes)), big.NewInt(int64(h.ranks))) // --sizes may ask for more than an int64 of it
	return BadInput("--sizes: %s: the buffers of %s on %s take %s: want at most %.0f %% of the %s available there",
		humanize.IBytes(uint64(bytes)), words.Count(h.ranks, "rank"), h.name, humanize.BigIBytes(need), 100*mostMemory, humanize.IBytes(uint64(h.available)))
}
