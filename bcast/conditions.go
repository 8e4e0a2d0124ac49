package bcast

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Conditions are those under which the times of a Report hold.
type Conditions struct {
	Library string `json:"library,omitempty"` // name and version of the communicator's library (mpi.Versioned); "" if not known
	Places  string `json:"places,omitempty"`  // table.Fingerprint of where the ranks run
	Hosts   int    `json:"hosts,omitempty"`   // on which they run
	PerHost []int  `json:"ranks_per_host,omitempty"`

	// Environment has the variables of rank 0 that set how the library does collectives.
	Environment map[string]string `json:"environment,omitempty"`
}

// conditions is collective: all ranks get those that rank 0 knows.
func (b *Broadcaster) conditions() (Conditions, error) {
	var own Conditions
	crew := newCrew(b.exec, 0)
	var out []byte
	if crew.isRoot() {
		own = Conditions{Library: b.job.Library, Places: b.job.Places, Environment: librarySettings(os.Environ())}
		own.Hosts, own.PerHost = counts(b.hosts)
		var err error
		if out, err = json.Marshal(own); err != nil {
			return own, fmt.Errorf("bcast: benchmark: %w", err)
		}
	}
	in, err := crew.tellAny(out)
	if err != nil {
		return own, err
	}
	if !crew.isRoot() {
		if err := json.Unmarshal(in, &own); err != nil {
			return own, fmt.Errorf("bcast: benchmark: conditions of rank 0: %w", err)
		}
	}
	return own, nil
}

// counts are how many hosts there are, and how many ranks are on one, each number once, ascending.
func counts(hosts []int) (n int, perHost []int) {
	ranks := make(map[int]int)
	for _, h := range hosts {
		ranks[h]++
	}
	for _, count := range ranks {
		perHost = append(perHost, count)
	}
	slices.Sort(perHost)
	return len(ranks), slices.Compact(perHost)
}

// librarySettings are the variables of an environment that set how a library does collectives.
func librarySettings(environment []string) map[string]string {
	set := make(map[string]string)
	for _, v := range environment {
		if name, value, _ := strings.Cut(v, "="); isLibrarySetting(name) {
			set[name] = value
		}
	}
	return set
}

// isLibrarySetting tells whether a variable of the environment sets how a library does collectives. mpirun --mca
// and -genv set such variables, and OMPI_MCA_coll lists the components that may do collectives. MPICH's
// launcher sets a variable that looks like one.
func isLibrarySetting(name string) bool {
	if strings.HasSuffix(name, "_INTERFACE_HOSTNAME") {
		return false
	}
	for _, prefix := range []string{"OMPI_MCA_coll_", "MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "OMPI_MCA_coll"
}
