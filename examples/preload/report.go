package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// A report is about the broadcasts of rank 0 of MPI_COMM_WORLD.
type report struct {
	Date    string // RFC 3339
	Network string // file
	Reason  string // why all broadcasts are native; "" for no reason
	Comms   int    // communicators that had a broadcaster
	Rows    []row  // of the sizes that were broadcast, ascending
}

// A row is about one class of sizes.
type row struct {
	Bytes   int64   `json:"up_to_bytes"`
	Calls   int64   `json:"calls"`
	Ours    int64   `json:"topology_aware"`
	Sum     int64   `json:"bytes"`
	Seconds float64 `json:"time_s"` // in MPI_Bcast; of messages up to 64 KiB one call in 16 is timed, up to 8 KiB one in 256
	Gain    float64 `json:"estimated_gain_s"`
}

func (r *report) add(x row) {
	if x.Calls > 0 {
		r.Rows = append(r.Rows, x)
	}
}

// total is the sum of all rows.
func (r *report) total() row {
	var t row
	for _, x := range r.Rows {
		t.Bytes = x.Bytes
		t.Calls += x.Calls
		t.Ours += x.Ours
		t.Sum += x.Sum
		t.Seconds += x.Seconds
		t.Gain += x.Gain
	}
	return t
}

// line is the report in one line for people.
func (r *report) line() string {
	t := r.total()
	text := fmt.Sprintf("topocast: rank 0: %s, %s, %s", words.Count(int(t.Calls), "broadcast"), quantity.Bytes(t.Sum), quantity.Seconds(t.Seconds))
	switch {
	case t.Ours > 0 && t.Gain == 0:
		return text + fmt.Sprintf("; %d topology-aware, whose gain was not measured", t.Ours)
	case t.Ours > 0:
		return text + fmt.Sprintf("; %d topology-aware, estimated gain %s", t.Ours, quantity.Seconds(t.Gain))
	case r.Reason != "":
		return text + "; all native (MPI_Bcast): " + r.Reason
	}
	return text + "; all native (MPI_Bcast)"
}

// write writes the report as JSON of the format "topocast/preload-report", version 1.
func (r *report) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	t := r.total()
	return e.Encode(struct {
		Format  string  `json:"format"`
		Version int     `json:"version"`
		Date    string  `json:"date"`
		Network string  `json:"network,omitempty"`
		Reason  string  `json:"native_because,omitempty"`
		Comms   int     `json:"communicators"`
		Calls   int64   `json:"calls"`
		Ours    int64   `json:"topology_aware"`
		Bytes   int64   `json:"bytes"`
		Seconds float64 `json:"time_s"`
		Gain    float64 `json:"estimated_gain_s"`
		Sizes   []row   `json:"sizes"`
	}{"topocast/preload-report", 1, r.Date, r.Network, r.Reason, r.Comms, t.Calls, t.Ours, t.Sum, t.Seconds, t.Gain, r.Rows})
}
