package outcome

import (
	"encoding/json"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
)

// WriteJSON writes a line for each outcome, for programs: numbers with all digits, in the units of their columns; what is not
// known is null.
func WriteJSON(w io.Writer, outcomes ...*Outcome) error {
	for _, o := range outcomes {
		err := json.NewEncoder(w).Encode(struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
			*Outcome
		}{"topocast/experiment", 3, o})
		if err != nil {
			return err
		}
	}
	return nil
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
