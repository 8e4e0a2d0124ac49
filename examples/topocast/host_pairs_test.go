package main

import (
	"math"
	"reflect"
	"testing"

	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model/results"
)

// TestHostPairs: four ranks on two hosts; the medians are those of 1, 2, 9 and of 4 by hand.
func TestHostPairs(t *testing.T) {
	f := &record.File{Header: record.Header{Ranks: 4, Hosts: []string{"b", "a", "a", "b"}}}
	s := &record.Section{Kind: "k", Sizes: []int{64, 8}, Columns: []string{"from", "to", "size", "q1_s"}, Rows: []float64{
		0, 1, 0, 9,
		0, 2, 0, 1,
		3, 1, 0, 2,
		3, 2, 0, math.NaN(),
		0, 1, 1, 7,
		1, 2, 0, 4,
	}}
	want := []results.HostPair{
		{From: "b", To: "a", Size: 8, Measurements: 1, Min: 7, Median: 7, Max: 7},
		{From: "b", To: "a", Size: 64, Measurements: 3, Min: 1, Median: 2, Max: 9},
		{From: "a", To: "a", Size: 64, Measurements: 1, Min: 4, Median: 4, Max: 4},
	}
	if got := hostPairs(f, s); !reflect.DeepEqual(got, want) {
		t.Errorf("hostPairs = %+v, want %+v", got, want)
	}
	s.Columns[3] = "rate_Bps"
	if got := hostPairs(f, s); got != nil {
		t.Errorf("of no times: %+v", got)
	}
}
