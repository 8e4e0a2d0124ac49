package throughput

import (
	"math"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// Kind is that of a Section.
const Kind = "throughput"

// The rows of a section are of several entries, which the first column names. All name a
// pair of ranks that they rest on; numbers that an entry has none of are not measured.
const (
	entryPair    = iota // of a measurement: the time of one pair's messages
	entrySample         // of a measurement: the rate of one sample
	entryLink           // one direction of a link
	entrySwitch         // what the hosts of a switch come to
	entryMaximum        // of a switch, one way
	entryDirect         // whether a pair has a link of its own
)

// sectionSettings are the conditions of a section.
type sectionSettings struct {
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds"`
}

// Section is the result as files keep it. Links that were not measured are left out.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Sizes: []int{r.Size}, Settings: record.SettingsOf(sectionSettings{r.Samples, r.Seconds}), Warnings: slices.Clone(r.Warnings),
		Rounds: r.Steps, TotalRounds: r.Steps, Stopped: r.Stopped,
		Columns: []string{
			"entry",
			"vertex", // of the graph that was measured along
			"other_vertex",
			"rate_Bps",
			"second_Bps", // of a switch two hosts alone, of a direct pair when it is blocked
			"third_Bps",  // of a switch all other hosts
			"bound",      // 0 or 1: the rate is a lower bound; of a switch and a direct pair the verdict
			"reading", "step", "messages", "seconds",
			record.ColumnRepetition, record.ColumnFrom, record.ColumnTo,
		},
	}
	type numbers map[string]float64 // by column
	row := func(entry int, pair [2]int, all ...numbers) {
		x := slices.Repeat([]float64{math.NaN()}, len(s.Columns))
		own := numbers{"entry": float64(entry), record.ColumnRepetition: 0, record.ColumnFrom: float64(pair[0]), record.ColumnTo: float64(pair[1])}
		for _, some := range append([]numbers{own}, all...) {
			for name, value := range some {
				x[s.Column(name)] = value
			}
		}
		s.Rows = append(s.Rows, x...)
	}
	for i := range r.measurements {
		x := &r.measurements[i]
		head := numbers{
			"rate_Bps": x.Rate, "reading": float64(i), "step": float64(x.Step), "messages": float64(x.Messages),
		}
		for k, p := range x.Pairs {
			row(entryPair, p, head, numbers{"seconds": x.Seconds[k]})
		}
		for k, rate := range x.Rates {
			row(entrySample, x.Pairs[0], head, numbers{"rate_Bps": rate, record.ColumnRepetition: float64(k)})
		}
	}
	for _, l := range r.Links {
		for _, measurement := range l.measurements {
			row(entryLink, r.measurements[measurement].Pairs[0], numbers{
				"vertex": float64(l.From), "other_vertex": float64(l.To),
				"rate_Bps": l.Rate, "bound": record.Flag(l.AtLeast), "reading": float64(measurement),
			})
		}
	}
	for _, x := range r.Switches {
		row(entrySwitch, x.pair, numbers{
			"vertex": float64(x.Vertex), "rate_Bps": x.All, "second_Bps": x.Alone, "third_Bps": x.Rest, "bound": record.Flag(x.Parallel),
		})
		for direction, rate := range x.Maximum {
			row(entryMaximum, x.pair, numbers{
				"vertex": float64(x.Vertex), "other_vertex": float64(direction), "rate_Bps": rate, "bound": record.Flag(x.AtLeast[direction]),
			})
		}
	}
	for _, d := range r.Direct {
		row(entryDirect, d.Pair, numbers{"rate_Bps": d.Alone, "second_Bps": d.Blocked, "bound": record.Flag(d.Wired)})
	}
	return s
}
