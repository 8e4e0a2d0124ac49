package truth

import (
	"reflect"
	"testing"

	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology/cluster"
)

// TestLevelsOfAJob: machines are hosts of one name but for the last number, as Reinfjell 2023 has it, section 5.3. Equal numbers of
// NUMA nodes are of different hosts.
func TestLevelsOfAJob(t *testing.T) {
	job := &record.Header{
		Ranks: 6, Hosts: []string{"c48-8", "c48-8", "c48-9.example.org", "c49-1", "c49-1", "login"},
		NUMA: []int{0, 1, 0, 0, 0, 0},
	}
	want := []Level{{Machine, cluster.Labels{0, 0, 0, 1, 1, 2}}, {Node, cluster.Labels{0, 0, 1, 2, 2, 3}}}
	if got := OfHosts(job); !reflect.DeepEqual(got, want) {
		t.Errorf("OfHosts = %v, want %v", got, want)
	}
	want = []Level{{Socket, cluster.Labels{0, 1, 2, 3, 3, 4}}}
	if got := OfNUMA(job); !reflect.DeepEqual(got, want) {
		t.Errorf("OfNUMA = %v, want %v", got, want)
	}
	for _, unknown := range [][]int{nil, {0, 1, -1, 0, 0, 0}} {
		job.NUMA = unknown
		if got := OfNUMA(job); got != nil {
			t.Errorf("OfNUMA of %v = %v, want nothing", unknown, got)
		}
	}
}
