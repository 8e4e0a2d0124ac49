package servet

import (
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// The kinds of sections, besides WhatDistance and WhatAccess.
const (
	KindMemory = "memory"
	KindCache  = "cache"
)

// ringSettings are those of a section of WhatDistance or WhatAccess.
type ringSettings struct {
	Bytes       int      `json:"bytes"`
	Hosts       []string `json:"hosts"` // in the order of the ring
	Repetitions int      `json:"repetitions"`
}

// Section is the result as files keep it: all times. A row is a message of one repetition.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: r.What, Columns: []string{"at", "hosts", "seconds_s", record.ColumnRepetition, record.ColumnFrom, record.ColumnTo}, Sizes: []int{r.Bytes}, Warnings: slices.Clone(r.Warnings), Stopped: r.Stopped,
		Settings: record.SettingsOf(ringSettings{r.Bytes, r.Hosts, r.Repetitions}), TotalRounds: r.Repetitions * len(r.Steps),
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		s.Rounds += len(step.Bandwidths)
		for k, times := range step.times {
			t := step.Transfers[k]
			for repetition, seconds := range times {
				s.Rows = append(s.Rows, float64(step.At), float64(step.Hosts), seconds, float64(repetition), float64(t.Src), float64(t.Dst))
			}
		}
	}
	return s
}
