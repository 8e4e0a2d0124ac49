package draw

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// heatData is a heat map in the page's data. Cells are two bytes each, little endian, row by row: 1 and the step of the latency
// on the logarithmic scale from Low to High, and 0 for what is not known.
type heatData struct {
	Note  string `json:"note"`
	Side  int    `json:"side"`  // cells in a row
	Block int    `json:"block"` // hosts in a cell
	Low   figure `json:"low"`   // s, the least
	Cut   figure `json:"cut"`   // s; all above have the last colour
	High  figure `json:"high"`  // s, the greatest
	Cells string `json:"cells"` // base 64
}

// heatSteps are as many as cells tell apart: latencies of a ratio of 1,000 to 0.01 %.
const heatSteps = 65534

// newHeatData makes the heat map of latencies in s, nil if none is above 0. source says where they come from.
func newHeatData(latencies mat.Matrix, h *topology.Hierarchy, source string) *heatData {
	t, err := newHeat(latencies, h, usualPercentile)
	if err != nil {
		return nil
	}
	packed := make([]byte, 0, 2*len(t.cells))
	for _, v := range t.cells {
		step := 0
		if !math.IsNaN(v) {
			step = 1 + t.step(v, t.high, heatSteps)
		}
		packed = binary.LittleEndian.AppendUint16(packed, uint16(step))
	}
	return &heatData{
		Note: source + ". " + strings.Join(t.notes, " "),
		Side: t.side, Block: t.block, Low: figure(t.low), Cut: figure(t.cut), High: figure(t.high), Cells: base64.StdEncoding.EncodeToString(packed),
	}
}
