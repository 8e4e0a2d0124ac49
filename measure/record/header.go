package record

import (
	"fmt"
	"slices"
	"time"
)

// A Header says where, when and with what something was measured.
type Header struct {
	Ranks int

	Date      time.Time // zero: not recorded
	Library   string    // message-passing library; "" if not known
	Timed     bool      // timed by the communicator, not by Go
	GoVersion string
	Version   string  // of topocast; "" if not known
	Platform  string  // operating system and architecture
	ClockStep float64 // s, the greatest of all ranks
	ClockCost float64 // s, of one reading, the greatest of all ranks
	CallCost  float64 // s, that the loops add to a call of the library in a reading (mpi.Timed), the greatest of all ranks; 0: nothing, or it is not known

	Hosts      []string // by rank: where it ran
	Cores      []int    // by rank: logical CPU that it was bound to, -1 if none
	CPUs       []int    // by rank: number of CPUs that its process could use
	NUMA       []int    // by rank: the one NUMA node of these CPUs, -1 if several or not known; nil: of no rank
	GOMAXPROCS []int    // by rank

	CrowdedHosts []string // hosts whose ranks outnumber the CPUs that they may use
	Environment  []string // of rank 0, sorted: "NAME=value" of variables that change the library's behaviour; nil: not known

	OtherEnvironment []int // ranks whose environment is not that of rank 0
}

// Format and versions of the files.
const (
	Format  = "topocast/measurement"
	Version = 3
)

// headerLine is the layout of a header.
type headerLine struct {
	Format       string     `json:"format"`
	Version      int        `json:"version"`
	Ranks        int        `json:"ranks"`
	Date         *time.Time `json:"date,omitempty"`
	Library      string     `json:"library,omitempty"`
	Timed        bool       `json:"timed"`
	GoVersion    string     `json:"go_version"`
	Topocast     string     `json:"topocast_version,omitempty"`
	Platform     string     `json:"platform"`
	ClockStep    float64    `json:"clock_step_s"`
	ClockCost    float64    `json:"clock_cost_s"`
	CallCost     float64    `json:"call_cost_s,omitempty"`
	Hosts        []string   `json:"hosts"`
	Cores        []int      `json:"cores"`
	CPUs         []int      `json:"cpus"`
	NUMA         []int      `json:"numa_nodes,omitempty"`
	GOMAXPROCS   []int      `json:"gomaxprocs"`
	CrowdedHosts []string   `json:"crowded_hosts,omitempty"`
	Environment  []string   `json:"environment"`
	Others       []int      `json:"other_environment_ranks,omitempty"`
}

func (h *Header) line() headerLine {
	l := headerLine{
		Format: Format, Version: Version, Ranks: h.Ranks,
		Library: h.Library, Timed: h.Timed, GoVersion: h.GoVersion, Topocast: h.Version, Platform: h.Platform,
		ClockStep: h.ClockStep, ClockCost: h.ClockCost, CallCost: h.CallCost,
		Hosts: h.Hosts, Cores: h.Cores, CPUs: h.CPUs, NUMA: h.NUMA, GOMAXPROCS: h.GOMAXPROCS,
		CrowdedHosts: h.CrowdedHosts, Environment: h.Environment, Others: h.OtherEnvironment,
	}
	if !h.Date.IsZero() {
		l.Date = &h.Date
	}
	return l
}

func (l *headerLine) header() Header {
	h := Header{
		Ranks:   l.Ranks,
		Library: l.Library, Timed: l.Timed, GoVersion: l.GoVersion, Version: l.Topocast, Platform: l.Platform,
		ClockStep: l.ClockStep, ClockCost: l.ClockCost, CallCost: l.CallCost,
		Hosts: l.Hosts, Cores: l.Cores, CPUs: l.CPUs, NUMA: l.NUMA, GOMAXPROCS: l.GOMAXPROCS,
		CrowdedHosts: l.CrowdedHosts, Environment: l.Environment, OtherEnvironment: l.Others,
	}
	if l.Date != nil {
		h.Date = *l.Date
	}
	return h
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

// SameJob says, in one line, why readings under the two headers are not of
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
