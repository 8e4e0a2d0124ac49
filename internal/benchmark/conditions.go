package benchmark

import (
	"os"
	"slices"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// Conditions are those under which the times of a Report hold.
type Conditions struct {
	Library string `json:"library,omitempty"`        // name and version of the communicator's library (mpi.Versioned); "" if not known
	Places  string `json:"places,omitempty"`         // table.Fingerprint of where the ranks run
	Hosts   int    `json:"hosts,omitempty"`          // on which they run
	PerHost []int  `json:"ranks_per_host,omitempty"` // how many ranks are on a host, each number once, ascending

	// Environment has the variables of rank 0 that can change how fast the library is (table.LibrarySettings).
	Environment map[string]string `json:"environment,omitempty"`
}

// conditionsOf are those that rank 0 knows. places are those of all ranks, on rank 0.
func conditionsOf(comm mpi.Communicator, places []mpi.Place) Conditions {
	c := Conditions{Places: table.Fingerprint(decisions.Locations(places)), Environment: table.LibrarySettings(os.Environ())}
	if v, ok := comm.(mpi.Versioned); ok {
		c.Library = v.LibraryVersion()
	}
	hosts, names := mpi.NumberHosts(places)
	perHost := make([]int, len(names))
	for _, h := range hosts {
		perHost[h]++
	}
	slices.Sort(perHost)
	c.Hosts, c.PerHost = len(names), slices.Compact(perHost)
	return c
}
