package linkage_test

import (
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology/linkage"
)

// What Bufe 2014 says of the machines behind its tables.
func TestLinkageOnBufesTables(t *testing.T) {
	tests := []struct {
		name   string
		table  string
		groups [][]int
	}{
		// Reference: table 3.5, ten nodes of the Westmere cluster: "one central switch".
		{"table 3.5 is one switch", "3.5", nil},
		// Reference: table 3.6, twelve cores of a node: two sockets of six.
		{"table 3.6 is two sockets of six", "3.6", [][]int{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}},
		// Reference: table 2.2, figures 2.10 and 2.11: three switches below a fourth.
		{"table 2.2 is three groups", "2.2", [][]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}},
		// Reference: table 3.7, four sockets: the source finds no structure.
		{"table 3.7 has no groups", "3.7", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := (&linkage.Robust{}).Reconstruct(published.Table(tt.table))
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			for _, g := range result.Hierarchy.Groups()[1:] {
				got = append(got, g.Hosts)
			}
			if !slices.EqualFunc(got, tt.groups, slices.Equal) {
				t.Errorf("groups = %v, want %v", got, tt.groups)
			}
		})
	}
}
