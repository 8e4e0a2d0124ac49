package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// A report is about the calls of rank 0 of MPI_COMM_WORLD.
type report struct {
	Date    string     // RFC 3339
	Network string     // file
	Comms   int        // that were made for calls of ours
	Of      [3]tallies // broadcasts, and reductions for all ranks and for one
}

// Tallies are about one collective.
type tallies struct {
	Reason string `json:"native_because,omitempty"` // why all are native
	counts
	Sizes []row `json:"sizes"` // that were called for, ascending
}

// A row is about one class of sizes.
type row struct {
	Bytes int64 `json:"up_to_bytes"`
	counts
}

// Counts are of some calls.
type counts struct {
	Calls   int64   `json:"calls"`
	Ours    int64   `json:"topology_aware"`
	Sum     int64   `json:"bytes"`
	Seconds float64 `json:"time_s"` // in the collective; up to 64 KiB one call in 16 is timed, up to 8 KiB one in 256
	Gain    float64 `json:"estimated_gain_s"`
}

func (t *tallies) add(x row) {
	if x.Calls == 0 {
		return
	}
	t.Sizes = append(t.Sizes, x)
	t.Calls += x.Calls
	t.Ours += x.Ours
	t.Sum += x.Sum
	t.Seconds += x.Seconds
	t.Gain += x.Gain
}

// names of the collectives of a report: one call of each, and MPI's name.
func names() [3][2]string {
	return [...][2]string{{"broadcast", "MPI_Bcast"}, {"allreduce", "MPI_Allreduce"}, {"reduction", "MPI_Reduce"}}
}

// line is the report in one line for people, of the collectives that were called.
func (r *report) line() string {
	var parts []string
	for i, t := range r.Of {
		if t.Sizes != nil {
			parts = append(parts, t.text(names()[i]))
		}
	}
	if parts == nil {
		parts = append(parts, r.Of[0].text(names()[0]))
	}
	return "topocast: rank 0: " + strings.Join(parts, "; ")
}

func (t *tallies) text(name [2]string) string {
	text := fmt.Sprintf("%s, %s, %s", words.Count(int(t.Calls), name[0]), quantity.Bytes(t.Sum), quantity.Seconds(t.Seconds))
	switch {
	case t.Ours > 0 && t.Gain == 0:
		return text + fmt.Sprintf("; %d topology-aware, whose gain was not measured", t.Ours)
	case t.Ours > 0:
		return text + fmt.Sprintf("; %d topology-aware, estimated gain %s", t.Ours, quantity.Seconds(t.Gain))
	case t.Reason != "":
		return text + fmt.Sprintf("; all native (%s): %s", name[1], t.Reason)
	}
	return text + fmt.Sprintf("; all native (%s)", name[1])
}

// write writes the report as JSON of the format "topocast/preload-report", version 1. What it says of broadcasts stands
// beside what it says of reductions.
func (r *report) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Date    string `json:"date"`
		Network string `json:"network,omitempty"`
		Comms   int    `json:"communicators"`
		tallies
		Allreduce tallies `json:"allreduce"`
		Reduce    tallies `json:"reduce"`
	}{"topocast/preload-report", 1, r.Date, r.Network, r.Comms, r.Of[0], r.Of[1], r.Of[2]})
}
