package results_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/topocast/topocast/model/results"
)

var update = flag.Bool("update", false, "rewrite docs/reference/json")

const folder = "../../docs/reference/json"

// schema is the JSON Schema of a format, as JSON.
func schema[T results.Result](t *testing.T) (name string, data []byte) {
	t.Helper()
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}})
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := results.Write(&written, new(T)); err != nil {
		t.Fatal(err)
	}
	var head results.Head
	if err := json.Unmarshal(written.Bytes(), &head); err != nil {
		t.Fatal(err)
	}
	format, version := any(head.Format), any(head.Version)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", head.Format
	s.Properties["format"].Const, s.Properties["version"].Const = &format, &version
	if data, err = json.MarshalIndent(s, "", "  "); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(head.Format, "topocast/"), append(data, '\n')
}

// TestSchemas: the schemas of docs/reference/json are those of the types.
func TestSchemas(t *testing.T) {
	hold(t, schema[results.Check])
	hold(t, schema[results.Changes])
	hold(t, schema[results.Comparison])
	hold(t, schema[results.FabricComparison])
	hold(t, schema[results.Correction])
	hold(t, schema[results.Cut])
	hold(t, schema[results.Discovery])
	hold(t, schema[results.Measured])
	hold(t, schema[results.Placement])
	hold(t, schema[results.Prediction])
	hold(t, schema[results.Rules])
	hold(t, schema[results.Tuning])
}

func hold(t *testing.T, of func(*testing.T) (string, []byte)) {
	t.Helper()
	name, want := of(t)
	file := filepath.Join(folder, name+".schema.json")
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the type (%v): go test ./model/results -update", file, err)
	}
}

// TestReadRefuses: another format, another version, an unknown key.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":"topocast/check","version":1}`:                  `format "topocast/check", version 1: want "topocast/placement", version 1`,
		`{"format":"topocast/placement","version":7}`:              "version 7",
		`{"format":"topocast/placement","version":1,"cores":true}`: "cores",
		`[]`: "results: read",
	} {
		if _, err := results.Read[results.Placement](strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func ExampleRead() {
	printed := `{"format":"topocast/placement","version":1,"ranks":[{"rank":0,"place":3,"host":"n1"}]}`
	placement, err := results.Read[results.Placement](strings.NewReader(printed))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rank 0 runs on", placement.Ranks[0].Host)
	// Output: rank 0 runs on n1
}
