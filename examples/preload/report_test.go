package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestReportLine(t *testing.T) {
	for _, c := range []struct {
		what   string
		report report
		want   string
	}{
		{"nothing", report{}, "topocast: rank 0: 0 broadcasts, 0 B, 0 s; all native (MPI_Bcast)"},
		{"a reason", report{Of: [3]tallies{{Reason: "so", Rows: []row{{Bytes: 8, Calls: 1, Sum: 5, Seconds: 2}}}}}, "topocast: rank 0: 1 broadcast, 5 B, 2 s; all native (MPI_Bcast): so"},
		{"a gain", report{Of: [3]tallies{{Reason: "so", Rows: []row{
			{Bytes: 8, Calls: 1, Sum: 5, Seconds: 2},
			{Bytes: 1 << 20, Calls: 3, Ours: 2, Sum: 3 << 20, Seconds: 4, Gain: 1.5},
		}}}}, "topocast: rank 0: 4 broadcasts, 3145733 B, 6 s; 2 topology-aware, estimated gain 1.5 s"},
		{"reductions", report{Of: [3]tallies{
			{Rows: []row{{Bytes: 8, Calls: 1, Sum: 5, Seconds: 2}}},
			{Reason: "so", Rows: []row{{Bytes: 8, Calls: 2, Sum: 16, Seconds: 1}}},
			{Rows: []row{{Bytes: 8, Calls: 3, Ours: 3, Sum: 24, Seconds: 1, Gain: 0.5}}},
		}}, "topocast: rank 0: 1 broadcast, 5 B, 2 s; all native (MPI_Bcast); 2 allreduces, 16 B, 1 s; all native (MPI_Allreduce): so; 3 reductions, 24 B, 1 s; 3 topology-aware, estimated gain 500 ms"},
		{"no times", report{Of: [3]tallies{{Rows: []row{{Bytes: 8, Calls: 2, Ours: 2, Sum: 16, Seconds: 2}}}}}, "topocast: rank 0: 2 broadcasts, 16 B, 2 s; 2 topology-aware, whose gain was not measured"},
	} {
		if got := c.report.line(); got != c.want {
			t.Errorf("%s: line() = %q, want %q", c.what, got, c.want)
		}
	}
}

func TestReportOfSizes(t *testing.T) {
	var r report
	for class := range 4 {
		r.Of[0].add(row{Bytes: 1 << class, Calls: int64(class % 2)})
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
