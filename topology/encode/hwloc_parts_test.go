package encode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostParts are those of a host of two packages of two cores of two threads, with L1 and L2 per core, L3 and a NUMA node per package.
const hostParts = "[{core 0 0 [0 4]} {core 0 0 [1 5]} {core 0 0 [2 6]} {core 0 0 [3 7]} " +
	"{cache 1 49152 [0 4]} {cache 1 49152 [1 5]} {cache 1 49152 [2 6]} {cache 1 49152 [3 7]} " +
	"{cache 2 2097152 [0 4]} {cache 2 2097152 [1 5]} {cache 2 2097152 [2 6]} {cache 2 2097152 [3 7]} " +
	"{cache 3 31457280 [0 1 4 5]} {cache 3 31457280 [2 3 6 7]} " +
	"{numa 0 0 [0 1 4 5]} {numa 0 0 [2 3 6 7]} {socket 0 0 [0 1 4 5]} {socket 0 0 [2 3 6 7]}]"

// The host in the forms of versions 2 and 1 of hwloc.
func TestReadHostParts(t *testing.T) {
	for _, file := range []string{"hwloc2.xml", "hwloc1.xml"} {
		f, err := os.Open(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := ReadHostParts(f)
		f.Close()
		if err != nil || fmt.Sprint(parts) != hostParts {
			t.Errorf("%s: ReadHostParts = %v, %v, want %s", file, parts, err, hostParts)
		}
	}
	for _, text := range []string{
		"", "<topology/>", "<other><object type=\"Core\" cpuset=\"0x1\"/></other>", "<topology><object type=\"Core\" cpuset=\"0xz\"/></topology>",
		"<topology><object type=\"L2Cache\" cpuset=\"0x1\"/></topology>", "<topology><object type=\"Core\" cpuset=\"0x1\">",
		"<topology><object type=\"LxCache\" cache_size=\"1\" cpuset=\"0x1\"/></topology>", "<topology><object type=\"Core\"/></topology>",
	} {
		if parts, err := ReadHostParts(strings.NewReader(text)); err == nil {
			t.Errorf("ReadHostParts(%q) = %v, want an error", text, parts)
		}
	}
}

func FuzzReadHostParts(f *testing.F) {
	for _, file := range []string{"hwloc2.xml", "hwloc1.xml"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("<topology><object type=\"Core\" cpuset=\",,\"/></topology>")
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := ReadHostParts(strings.NewReader(text))
		if err == nil && len(parts) == 0 {
			t.Error("no parts and no error")
		}
	})
}
