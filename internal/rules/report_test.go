package rules

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/benchmark"
)

func TestRead(t *testing.T) {
	const head = `{"format":"topocast/bcast-benchmark","version":2,"ranks":4,"root":1,"library":"Open MPI v4.1.4","places":"x","hosts":2,"ranks_per_host":[2],"environment":{"A":"b"},"rows":[`
	good := head + `{"bytes":8,"variant":"ours","median_s":1,"min_s":1,"max_s":1,"verified":true},
{"bytes":8,"variant":"native","median_s":2,"min_s":1,"max_s":4,"verified":true},
{"bytes":0,"variant":"native","median_s":0,"min_s":0,"max_s":0,"verified":true},
{"bytes":16,"variant":"native","median_s":2,"median_low_s":1.5,"median_high_s":3,"min_s":1,"max_s":4,"verified":true},
{"bytes":32,"variant":"native","median_s":2,"median_low_s":1.5,"min_s":1,"max_s":4,"verified":true},
{"bytes":64,"variant":"native","median_s":2,"median_high_s":3,"min_s":1,"max_s":4,"verified":true}]}`
	report, err := Read("own.json", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	conditions := benchmark.Conditions{Library: "Open MPI v4.1.4", Places: "x", Hosts: 2, PerHost: []int{2}, Environment: map[string]string{"A": "b"}}
	if report.name != "own.json" || report.Ranks != 4 || report.Root != 1 || !reflect.DeepEqual(report.Conditions, conditions) || len(report.Rows) != 4 {
		t.Errorf("Read = %+v", report.Report)
	}
	for i, want := range [][4]float64{{8, 2, 1, 4}, {16, 2, 1.5, 3}, {32, 2, 1, 4}, {64, 2, 1, 4}} {
		if x := report.Rows[i]; [4]float64{float64(x.Bytes), x.Median, x.Low, x.High} != want {
			t.Errorf("row %d is %+v, want %v", i, x, want)
		}
	}
	least := strings.NewReplacer(`"ranks":4`, `"ranks":2`, `"hosts":2`, `"hosts":1`).Replace(good)
	if _, err := Read("least.json", []byte(least)); err != nil {
		t.Errorf("two ranks on a host, the last one the root: %v", err)
	}
	for _, c := range []struct{ text, want string }{
		{`{}`, "bad.json: format"},
		{`{"format":"topocast/network","version":2}`, `format is "topocast/network"`},
		{strings.Replace(good, `"version":2`, `"version":1`, 1), "version is 1"},
		{strings.Replace(good, `"ranks":4`, `"ranks":1`, 1), "1 ranks"},
		{strings.Replace(good, `"root":1`, `"root":4`, 1), "root 4"},
		{strings.Replace(good, `"root":1`, `"root":-1`, 1), "root -1"},
		{strings.Replace(good, `"hosts":2`, `"hosts":0`, 1), "0 hosts"},
		{strings.Replace(good, `"bytes":16`, `"bytes":8`, 1), "given twice"},
		{strings.Replace(good, `"median_low_s":1.5`, `"median_low_s":2.5`, 1), "in [2.5, 3]"},
		{strings.ReplaceAll(good, `"verified":true`, `"verified":false`), "verified false"},
		{strings.ReplaceAll(good, `native`, `chain`), "no times"},
		{good[:len(good)-9], "format"},
	} {
		if _, err := Read("bad.json", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read(%s) = %v, want an error of %q", c.text, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"topocast/bcast-benchmark","version":2,"library":"Open MPI v6.0.0rc2","ranks":4,"hosts":2,"rows":[{"bytes":8,"variant":"native","median_s":2,"min_s":1,"max_s":4,"verified":true}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := Read("fuzz.json", text)
		if err != nil {
			return
		}
		if rules, err := Best([]Report{*report}); err == nil {
			var out bytes.Buffer
			if err := rules.WriteText(&out); err != nil {
				t.Fatal(err)
			}
			_ = rules.WriteOpenMPI(&out) // refuses other libraries
		}
	})
}
