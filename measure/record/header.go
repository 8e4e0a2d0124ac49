package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/model"
)

// A Header says where, when and with what something was measured.
type Header struct {
	Ranks int `json:"ranks"`

	Date      time.Time `json:"date,omitzero"`     // zero: not recorded
	Library   string    `json:"library,omitempty"` // message-passing library; "" if not known
	Timed     bool      `json:"timed"`             // timed by the communicator, not by Go
	GoVersion string    `json:"go_version"`
	Version   string    `json:"topocast_version,omitempty"` // of topocast; "" if not known
	Platform  string    `json:"platform"`                   // operating system and architecture
	ClockStep float64   `json:"clock_step_s"`               // the greatest of all ranks
	ClockCost float64   `json:"clock_cost_s"`               // of one reading of the clock, the greatest of all ranks
	CallCost  float64   `json:"call_cost_s,omitempty"`      // that the loops add to a call of the library in a measurement (mpi.Timed), the greatest of all ranks; 0: nothing, or it is not known

	Hosts      []string `json:"hosts"`                // by rank: where it ran
	Cores      []int    `json:"cores"`                // by rank: logical CPU that it was bound to, -1 if none
	CPUs       []int    `json:"cpus"`                 // by rank: number of CPUs that its process could use
	NUMA       []int    `json:"numa_nodes,omitempty"` // by rank: the one NUMA node of these CPUs, -1 if several or not known; nil: of no rank
	GOMAXPROCS []int    `json:"gomaxprocs"`           // by rank

	OversubscribedHosts []string `json:"crowded_hosts,omitempty"` // hosts whose ranks outnumber the CPUs that they may use
	Environment         []string `json:"environment"`             // of rank 0, sorted: "NAME=value" of variables that change the library's behaviour; nil: not known

	OtherEnvironment []int `json:"other_environment_ranks,omitempty"` // ranks whose environment is not that of rank 0
}

// Locations are those of the ranks.
func (h *Header) Locations() []model.Location {
	all := make([]model.Location, h.Ranks)
	for i := range all {
		all[i] = model.Location{Host: h.Hosts[i], Core: h.Cores[i]}
	}
	return all
}

// The format of the files, and its version.
const (
	format  = "topocast/measurement"
	version = 3
)

// headerLine is the first line of a file.
type headerLine struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	*Header
}

// check refuses headers that no job can have.
func (h *Header) check() error {
	switch {
	case h.Ranks < 1:
		return fmt.Errorf("ranks: %d: want at least 1", h.Ranks)
	case len(h.Hosts) != h.Ranks || len(h.Cores) != h.Ranks || len(h.CPUs) != h.Ranks || len(h.GOMAXPROCS) != h.Ranks:
		return fmt.Errorf("hosts, cores, cpus, gomaxprocs: %d, %d, %d, %d entries: want one for each of %d ranks",
			len(h.Hosts), len(h.Cores), len(h.CPUs), len(h.GOMAXPROCS), h.Ranks)
	case len(h.NUMA) != 0 && len(h.NUMA) != h.Ranks:
		return fmt.Errorf("numa_nodes: %d entries: want one for each of %d ranks", len(h.NUMA), h.Ranks)
	case !(h.ClockStep >= 0) || !(h.ClockCost >= 0) || !(h.CallCost >= 0):
		return fmt.Errorf("clock_step_s, clock_cost_s, call_cost_s: %g, %g, %g: want at least 0", h.ClockStep, h.ClockCost, h.CallCost)
	}
	return nil
}

// SameJob says, in one line, why measurements under the two headers are not of
// the same ranks on the same machine and must not be put together; nil if they
// are. Cores and environments count where both are known. The version of topocast may
// be another.
func (h *Header) SameJob(other *Header) error {
	switch {
	case h.Ranks != other.Ranks:
		return fmt.Errorf("%d ranks and %d", h.Ranks, other.Ranks)
	case h.Library != other.Library:
		return fmt.Errorf("libraries %q and %q", h.Library, other.Library)
	case h.Timed != other.Timed:
		return fmt.Errorf("one is timed by the communicator and one by Go")
	}
	for rank, host := range h.Hosts {
		if other.Hosts[rank] != host {
			return fmt.Errorf("rank %d ran on %s and on %s", rank, host, other.Hosts[rank])
		}
		if a, b := h.Cores[rank], other.Cores[rank]; a >= 0 && b >= 0 && a != b {
			return fmt.Errorf("rank %d ran on CPU %d and on CPU %d of %s", rank, a, b, host)
		}
	}
	if h.Environment == nil || other.Environment == nil {
		return nil
	}
	for _, setting := range slices.Concat(h.Environment, other.Environment) {
		if slices.Contains(h.Environment, setting) != slices.Contains(other.Environment, setting) {
			return fmt.Errorf("only one ran with %s in its environment", setting)
		}
	}
	return nil
}
