package main

import (
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
)

// outcome makes the paper's tables of the report.
func (r *zhuReport) outcome() *outcome.Outcome {
	o := &outcome.Outcome{
		Name:     "zhu",
		Source:   "Zhu, Lastovetsky, Ali, Riesen, Hasanov 2014: Asymmetric communication models for resource-constrained hierarchical Ethernet networks.",
		Where:    r.Library,
		Warnings: r.Warnings,
		Detail:   r.detail(),
	}
	r.tableII(o.Section("Table II: random patterns (sections 7.1 and 7.2)"))
	r.exchange(o.Section("An irregular alltoallv of four hosts (section 7.3)"))
	return o
}

func (r *zhuReport) tableII(s *outcome.Section) {
	s.Say("Messages of %s between hosts, each host drawing d partners. Errors of the asymmetric model |e|, of it in patterns that use a link both ways |e'|, and there of fair sharing |e''|; pi is the half width of the 95 %% interval of the mean error, relative to it. Models are fitted to %d other patterns.", quantity.Bytes(r.Bytes), r.Fitted)
	t := s.Table("table-2", outcome.Number("|N|", ""), outcome.Number("d", ""), outcome.Number("N trials", ""), outcome.Number("steps", ""),
		outcome.Number("pi(e)", ""), outcome.Number("|e|", "%"), outcome.Number("|e'|", "%"), outcome.Number("|e''|", "%"))
	for _, row := range r.Rows {
		if !row.Exchange {
			t.Row(row.Hosts, row.Degree, row.Trials, row.Steps, row.Precision,
				100*row.Errors[lawAsymmetric].Mean, 100*row.Mixed[lawAsymmetric], 100*row.Mixed[lawFair])
		}
	}

	columns := []outcome.Column{
		outcome.Text("|N|"), outcome.Text("d"), outcome.Text("sharing"), outcome.Number("mean", "%"), outcome.Number("max", "%"),
		outcome.Number("within 10 %", "%"), outcome.Number("in 90 % intervals", "%"),
	}
	t = s.Table("by-law", columns...)
	t.Title = "by law of sharing: mean and largest error, messages within 10 %, and within the fitted law's intervals of 90 %"
	line := func(hosts, d string, row *zhuRow) {
		for law, e := range row.Errors {
			covered := jsonfile.Value(nil)
			if law == lawFitted {
				covered = 100 * row.Coverage
			}
			t.Row(hosts, d, r.Laws[law], 100*e.Mean, 100*e.Max, 100*e.Within, covered)
		}
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; !row.Exchange {
			line(fmt.Sprint(row.Hosts), fmt.Sprint(row.Degree), row)
		}
	}
	if r.All.Patterns > 0 {
		line("all", "all", &r.All)
	}
}

func (r *zhuReport) exchange(s *outcome.Section) {
	for _, row := range r.Rows {
		if !row.Exchange {
			continue
		}
		s.Say("Time until the last of %d messages is over, measured and predicted.", row.Trials)
		t := s.Table("alltoallv", outcome.Text("sharing"), outcome.Number("time", "s"), outcome.Number("error", "%"))
		t.Row("measured", row.Last[0], jsonfile.Value(nil))
		for law, name := range r.Laws {
			t.Row(name, row.Last[1+law], 100*(row.Last[1+law]-row.Last[0])/row.Last[0])
		}
	}
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
	}{r.Library, r.Bytes, r.Fitted, r.Laws, []row{}, nil}
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
