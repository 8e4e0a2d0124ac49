package benchmark

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Reports tell the topology of a plan.
func TestReportTellsTopologies(t *testing.T) {
	c, err := simnet.ParseCluster("tree:2x2 latency=20us,5us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	n := casttest.NetworkOf(t, casttest.RegularTree(t, 4, 2))
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Network: n, Topologies: []table.Topology{{Name: table.Found}, {Name: "flat"}}})
		if err != nil {
			return err
		}
		r, err := Run(t.Context(), comm, b, &Settings{Sizes: []int{64 << 10}, Repetitions: 1, Only: []string{"ours", "chain", "binomial (flat)"}})
		if err != nil || comm.Rank() > 0 {
			return err
		}
		var text, csv, asJSON strings.Builder
		for out, write := range map[*strings.Builder]func() error{
			&text:   func() error { return r.WriteText(&text) },
			&csv:    func() error { return r.WriteCSV(&csv) },
			&asJSON: func() error { return r.Write(&asJSON) },
		} {
			if err := write(); err != nil {
				return fmt.Errorf("%v: %w", out, err)
			}
		}
		var got struct {
			Rows []struct{ Variant, Algorithm string }
		}
		if err := json.Unmarshal([]byte(asJSON.String()), &got); err != nil {
			return err
		}
		var rows []string
		for _, row := range got.Rows {
			rows = append(rows, row.Variant+": "+row.Algorithm)
		}
		if text := strings.Join(rows, ", "); !strings.HasSuffix(text, ", chain: chain, binomial (flat): binomial (flat), chain (flat): chain (flat)") || got.Rows[0].Variant != "ours" {
			return fmt.Errorf("rows %s", text)
		}
		if !strings.Contains(text.String(), "binomial (flat), ") || !strings.Contains(csv.String(), ",binomial (flat),binomial (flat),") {
			return fmt.Errorf("printed\n%s\n%s", &text, &csv)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
