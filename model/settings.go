package model

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/topocast/topocast/topology"
)

// A Location says where a rank runs.
type Location struct {
	Host string // "" if not known
	Core int    // logical CPU; -1 if the rank is not bound to a single one, as mpi.Placed has it
}

// Metadata says how a network was measured. A number without its conditions
// is not kept.
type Metadata struct {
	Date    string            `json:"date,omitempty"`    // RFC 3339
	Tool    string            `json:"tool,omitempty"`    // what measured or computed
	Library string            `json:"library,omitempty"` // the message-passing library and its version
	Bytes   int64             `json:"bytes"`             // size of the messages that gave the latencies
	Notes   map[string]string `json:"notes,omitempty"`   // settings and conditions, by name
}

// Settings are what New is told beyond a reconstruction. The zero value gives
// a network that knows latencies only.
type Settings struct {
	// Levels are the parameters of the levels of confident groups (see
	// Network.Hierarchy), fine to coarse, those of the root last. nil: the
	// latencies of the hierarchy, and LevelBandwidth.
	Levels []LevelParams
	// LevelBandwidth is that of each of these levels in B/s, the root last, NaN where it is not
	// known. Used if Levels is nil; nil: not known.
	LevelBandwidth []float64
	// Locations of the ranks; nil: not known. Levels of the hierarchy whose kind is not known get it from them
	// and from Resources: hosts, several hosts, or what ranks of one host share.
	Locations []Location
	// Routing says which of several shortest routes flows take.
	Routing topology.RouteChoice
	// Law says how transfers share links; the zero value: fairly.
	Law
	// MeasuredOverPredicted are quantiles, ascending and evenly spaced from 0 to 1, of measured over
	// predicted times of concurrent transfers; nil: not known.
	MeasuredOverPredicted []float64
	// Degradation under load; nil: not known.
	Degradation *Degradation
	// Resources are what ranks of one host share inside it: what was measured, and what the operating system tells of the
	// rest; nil: not known.
	Resources []Resource
	// BcastTable is the section of how broadcasts are done best on this network; nil: none. Package bcast/table reads and writes
	// it. Views keep it, as it says itself which jobs it speaks of. fit.Update does not, as it rests on the old times.
	BcastTable json.RawMessage
	// Measured says how.
	Measured Metadata
}

// maxBcastTable bounds the section in bytes. 64 jobs of 1,024 ranks take 0.5 MB.
const maxBcastTable = 4 << 20

// checkBcastTable returns the section without blanks, as it is in a file.
func checkBcastTable(section json.RawMessage) (json.RawMessage, error) {
	if section == nil {
		return nil, nil
	}
	if len(section) > maxBcastTable {
		return nil, fmt.Errorf("table of broadcasts: %d bytes: want at most %d", len(section), maxBcastTable)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, section); err != nil {
		return nil, fmt.Errorf("table of broadcasts: %w", err)
	}
	if compact.Bytes()[0] != '{' {
		return nil, fmt.Errorf("table of broadcasts: want a JSON object")
	}
	return compact.Bytes(), nil
}
