package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestReportLine(t *testing.T) {
	of := func(reason string, rows ...row) (t tallies) {
		t.Reason = reason
		for _, x := range rows {
			t.add(x)
		}
		return t
	}
	for _, c := range []struct {
		what   string
		report [3]tallies
		want   string
	}{
		{"nothing", [3]tallies{}, "topocast: rank 0: 0 broadcasts, 0 B, 0 s; all native (MPI_Bcast)"},
		{"a reason", [3]tallies{of("so", row{8, counts{1, 0, 5, 2, 0}})}, "topocast: rank 0: 1 broadcast, 5 B, 2 s; all native (MPI_Bcast): so"},
		{
			"a gain",
			[3]tallies{of("so", row{8, counts{1, 0, 5, 2, 0}}, row{1 << 20, counts{3, 2, 3 << 20, 4, 1.5}})},
			"topocast: rank 0: 4 broadcasts, 3145733 B, 6 s; 2 topology-aware, estimated gain 1.5 s",
		},
		{
			"reductions",
			[3]tallies{of("", row{8, counts{1, 0, 5, 2, 0}}), of("so", row{8, counts{2, 0, 16, 1, 0}}), of("", row{8, counts{3, 3, 24, 1, 0.5}})},
			"topocast: rank 0: 1 broadcast, 5 B, 2 s; all native (MPI_Bcast); 2 allreduces, 16 B, 1 s; all native (MPI_Allreduce): so; 3 reductions, 24 B, 1 s; 3 topology-aware, estimated gain 500 ms",
		},
		{"no times", [3]tallies{of("", row{8, counts{2, 2, 16, 2, 0}})}, "topocast: rank 0: 2 broadcasts, 16 B, 2 s; 2 topology-aware, whose gain was not measured"},
	} {
		if got := (&report{Of: c.report}).line(); got != c.want {
			t.Errorf("%s: line() = %q, want %q", c.what, got, c.want)
		}
	}
}

func TestReportOfSizes(t *testing.T) {
	var r report
	for class := range 4 {
		r.Of[0].add(row{1 << class, counts{Calls: int64(class % 2)}})
	}
	var out bytes.Buffer
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"format": "topocast/preload-report"`, `"version": 1`, `"calls": 2`, `"up_to_bytes": 2,`, `"up_to_bytes": 8,`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report is\n%s\nwithout %s", &out, want)
		}
	}
	if strings.Contains(out.String(), `"up_to_bytes": 4,`) {
		t.Errorf("report is\n%s\nand tells a size that was not broadcast", &out)
	}
}
