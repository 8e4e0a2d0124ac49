package record

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// rankInfo is what one rank tells of itself.
type rankInfo struct {
	CPUs        int     `json:"cpus"`
	NUMA        int     `json:"numa"`
	GOMAXPROCS  int     `json:"gomaxprocs"`
	Step        float64 `json:"clock_step_s"`
	Cost        float64 `json:"clock_cost_s"`
	Call        float64 `json:"call_cost_s"`
	Environment uint64  `json:"environment"` // its fingerprint
}

// Gather is collective: it returns on rank 0 the header of a file of this job,
// and nil on the others. Each rank measures by the clock of its probe. The header has no date. Two messages per rank.
func Gather(comm mpi.Communicator, probe *pingpong.Probe) (*Header, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("record: conditions: %w", err)
	}
	environment := environment(os.Environ())
	info := rankInfo{
		CPUs: runtime.NumCPU(), NUMA: ownNUMA(comm), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Step: probe.Step, Cost: probe.Cost, Environment: fingerprint(environment),
	}
	if timed, ok := comm.(mpi.Timed); ok && probe.Timed {
		_, info.Call = timed.CallCosts()
	}
	all, err := harness.Gather(comm, info)
	if err != nil {
		return nil, fmt.Errorf("record: conditions: %w", err)
	}
	if all == nil {
		return nil, nil
	}
	h := &Header{
		Ranks: comm.Size(), Timed: probe.Timed,
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Version: ownVersion(),
		OversubscribedHosts: mpi.OversubscribedHosts(places), Environment: environment,
	}
	if v, ok := comm.(mpi.Versioned); ok {
		h.Library = v.LibraryVersion()
	}
	for rank, info := range all {
		h.Hosts, h.Cores, h.CPUs = append(h.Hosts, places[rank].Host), append(h.Cores, places[rank].Core), append(h.CPUs, info.CPUs)
		h.NUMA, h.GOMAXPROCS = append(h.NUMA, info.NUMA), append(h.GOMAXPROCS, info.GOMAXPROCS)
		h.ClockStep, h.ClockCost, h.CallCost = max(h.ClockStep, info.Step), max(h.ClockCost, info.Cost), max(h.CallCost, info.Call)
		if info.Environment != fingerprint(environment) {
			h.OtherEnvironment = append(h.OtherEnvironment, rank)
		}
	}
	return h, nil
}

func fingerprint(environment []string) uint64 {
	sum := fnv.New64a() // which never fails
	fmt.Fprintf(sum, "%q", environment)
	return sum.Sum64()
}

// ownVersion is the version of topocast in this program, as far as the go
// command has recorded one.
func ownVersion() string {
	const path = "github.com/topocast/topocast"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

// ownNUMA is the NUMA node that all CPUs of the calling rank are in, -1 if there are several,
// or if it is not known: the kernel of this process says nothing of a simulated host.
func ownNUMA(comm mpi.Communicator) int {
	own, known := harness.OwnPlace(comm)
	if !known {
		return -1
	}
	return numaNode(own.CPUs, "/sys/devices/system/cpu")
}

// numaNode looks for the node among the links that Linux has in the folder of each CPU.
func numaNode(cpus []int, folder string) int {
	node := -1
	for _, cpu := range cpus {
		links, err := filepath.Glob(fmt.Sprintf("%s/cpu%d/node[0-9]*", folder, cpu))
		if err != nil || len(links) != 1 {
			return -1
		}
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(links[0]), "node"))
		if err != nil || node >= 0 && n != node {
			return -1
		}
		node = n
	}
	return node
}
