package outcome

import (
	"encoding/json"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
)

// WriteJSON writes the outcome for programs: numbers with all digits, in the units of their
// columns; what is not known is null.
func (o *Outcome) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*Outcome
	}{"topocast/experiment", 3, o})
}

// MarshalJSON implements json.Marshaler.
func (t *Table) MarshalJSON() ([]byte, error) {
	rows := make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			if v, is := cell.(float64); is {
				cell = jsonfile.Known(v)
			}
			rows[i] = append(rows[i], cell)
		}
	}
	return json.Marshal(struct {
		Name    string   `json:"name"`
		Columns []Column `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}{t.Name, t.Columns, rows})
}

// MarshalJSON implements json.Marshaler.
func (c Comparison) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		What    string   `json:"what"`
		Unit    string   `json:"unit,omitempty"`
		Kind    string   `json:"kind"`
		Printed float64  `json:"printed"`
		Ours    *float64 `json:"ours"`  // null: not reproduced
		Holds   bool     `json:"holds"` // within 10 %, or a bound that holds
	}{c.What, c.Unit, c.Kind.String(), c.Printed, jsonfile.Known(c.Ours), c.Holds()})
}
