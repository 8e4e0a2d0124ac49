package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/topocast/topocast/model/results"
)

// TestPrintedJSON: what commands print with --json is read by the types of model/results, to the last key, and is valid
// against the schemas of docs/reference/json.
func TestPrintedJSON(t *testing.T) {
	schemas, err := filepath.Abs("../../docs/reference/json")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	network := discovered(t, "--sim", "tree:2x4 latency=10us,2us rate=10Gbps")
	slow := discovered(t, "--sim", "tree:2x4 latency=10us,2us rate=10Gbps", "--fault", "host h3 2x")
	latencies := write(t, "m.csv", twoPairs)
	groups := write(t, "topology.conf", "SwitchName=a Nodes=h[0-3]\nSwitchName=b Nodes=h[4-7]\nSwitchName=c Switches=a,b\n")
	traffic := write(t, "traffic.csv", "0,9\n9,0\n")
	square := discovered(t, "--sim", "tree:2x2 latency=10us,2us rate=10Gbps")
	printed[results.Discovery](t, schemas, "discover", "--sim", "star:4", "--json")
	printed[results.Measured](t, schemas, "measure", "--sim", "star:4", "--by-host", "--json")
	printed[results.Comparison](t, schemas, "compare", slow, "--against", network, "--json")
	printed[results.FabricComparison](t, schemas, "compare", network, "--against", groups, "--json")
	printed[results.Check](t, schemas, "check", network, "--sim", "tree:2x4 latency=10us,2us rate=10Gbps", "--fault", "host h3 2x", "--json")
	printed[results.Changes](t, schemas, "check", "--history", "site", "--sim", "star:8", "--json")
	printed[results.Prediction](t, schemas, "predict", network, "0", "5", "1MB", "--json")
	printed[results.Placement](t, schemas, "place", network, traffic, "--json")
	printed[results.Correction](t, schemas, "network", "correct", square, latencies, "--unit", "us", "--json")
	printed[results.Tuning](t, schemas, "bcast", "tune", network, "--sim", "tree:2x4", "--sizes", "8,1KiB", "--json")
	own, forced := nativeReport(t, 12, openMPIVersion, "", 100, 9000), nativeReport(t, 12, openMPIVersion, forcedPipeline, 300, 3000)
	printed[results.Rules](t, schemas, "bcast", "rules", own, forced, "--json")
	printed[results.Cut](t, schemas, "network", "bisect", network, "--json")
}

// printed reads what a command prints, and holds it against the schema of its format.
func printed[T results.Result](t *testing.T, schemas string, args ...string) {
	t.Helper()
	status, out, stderr := topocast(args...)
	if status != 0 && status != 3 && status != 4 {
		t.Fatalf("%q: status %d: %s", args, status, stderr)
	}
	if _, err := results.Read[T](strings.NewReader(out)); err != nil {
		t.Errorf("%q: %v in\n%s", args, err, out)
	}
	var head results.Head
	if err := json.Unmarshal([]byte(out), &head); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(schemas, strings.TrimPrefix(head.Format, "topocast/")+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(out), &value); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("%q: %v in\n%s", args, err, out)
	}
}
