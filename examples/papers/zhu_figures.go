package main

import (
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/topology/draw"
)

// histograms draws the errors of predictions by d, and compares how many are within the margin.
func (r *zhuReport) histograms(s *outcome.Section) error {
	s.Say("Share of the messages whose error is at most 10 %%, by draws per host, all numbers of hosts together.")
	if r.lawful {
		s.Because("As in Table II: of the paper's messages 17 to 36 %% are off by more than 10 %% with the right law, too, of the simulated ones none to speak of.")
	}
	t := s.Table(r.named("figure-6"), outcome.Text("d"), outcome.Text("sharing"), outcome.Number("messages", ""), outcome.Number("within 10 %", "%"), outcome.Number("least error", "%"), outcome.Number("greatest", "%"))
	// Printed in section 7.2 of the main testbed: by the asymmetric model and by fair sharing. Grid5000 is not repeated.
	printedShares := map[int][2]float64{1: {83.2, 66.8}, 2: {77.3, 58.0}, 3: {72.1, 68.8}}
	var samples []draw.Sample
	for column, law := range []int{lawAsymmetric, lawFair} {
		var seen []int
		for _, row := range r.Rows {
			d := row.Degree
			if row.Exchange || len(seen) > 0 && seen[len(seen)-1] == d { // rows are in the order of d
				continue
			}
			seen = append(seen, d)
			sample := draw.Sample{Name: fmt.Sprintf("%s, d = %d", r.Laws[law], d)}
			within, least, most := 0, 0.0, 0.0
			for _, same := range r.Rows {
				if same.Exchange || same.Degree != d {
					continue
				}
				for _, x := range same.transfers {
					e := (x.Predicted[law] - x.Measured) / x.Measured
					sample.Values = append(sample.Values, 100*e)
					least, most = min(least, e), max(most, e)
					if e >= -zhuMargin && e <= zhuMargin {
						within++
					}
				}
			}
			share := 100 * float64(within) / float64(len(sample.Values))
			t.Row(fmt.Sprint(d), r.Laws[law], len(sample.Values), share, 100*least, 100*most)
			if printed, known := printedShares[d]; known {
				s.Compare(r.lawKind(), fmt.Sprintf("within 10 %%, %s, d = %d", r.Laws[law], d), "%", printed[column], share)
			}
			samples = append(samples, sample)
		}
	}
	f, err := draw.Distribution("Figures 6 and 7: errors of predicted times", draw.Axis{Name: "error in %"}, samples, 50, "Negative: the message took longer than predicted.")
	if err != nil {
		return err
	}
	s.Figure(r.named("figure-6"), f)
	return nil
}

// detail is each transfer, for programs.
func (r *zhuReport) detail() any {
	type row struct {
		zhuRow
		Precision *float64      `json:"precision"` // null: not known
		Mixed     []*float64    `json:"mixed"`
		All       []zhuTransfer `json:"measured,omitempty"`
	}
	known := func(x *zhuRow) row {
		out := row{zhuRow: *x, Precision: jsonfile.Known(x.Precision)}
		for _, e := range x.Mixed {
			out.Mixed = append(out.Mixed, jsonfile.Known(e))
		}
		return out
	}
	out := struct {
		Library string   `json:"library,omitempty"`
		Bytes   int64    `json:"message_bytes"`
		Fitted  int      `json:"patterns_fitted"`
		Laws    []string `json:"laws"`
		Rows    []row    `json:"rows"`
		Random  *row     `json:"random,omitempty"`
	}{r.Library, r.bytes, r.Fitted, r.Laws, []row{}, nil}
	for i := range r.Rows {
		x := known(&r.Rows[i])
		x.All = r.Rows[i].transfers
		out.Rows = append(out.Rows, x)
	}
	if r.All.Patterns > 0 {
		all := known(&r.All)
		out.Random = &all
	}
	return out
}
