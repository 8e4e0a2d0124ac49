package servet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// sysTree is /sys of a host as Linux lays it out, written by hand: two packages of two cores of two threads - CPUs 0 to 3 are
// the first threads -, L1 for instructions and for data per core, L2 per core, L3 per package, a NUMA node per
// package and one of memory alone.
func sysTree() fstest.MapFS {
	tree := fstest.MapFS{}
	put := func(file, text string) {
		tree["devices/system/"+file] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	for cpu := range 8 {
		core := cpu % 4
		threads := fmt.Sprintf("%d,%d", core, core+4)
		half := fmt.Sprintf("%d-%d,%d-%d", core/2*2, core/2*2+1, core/2*2+4, core/2*2+5)
		dir := fmt.Sprintf("cpu/cpu%d/", cpu)
		put(dir+"topology/thread_siblings_list", threads)
		put(dir+"topology/core_siblings_list", half)
		for i, cache := range [][4]string{{"1", "Data", "48K", threads}, {"1", "Instruction", "32K", threads}, {"2", "Unified", "2M", threads}, {"3", "Unified", "30720K", half}} {
			index := fmt.Sprintf("%scache/index%d/", dir, i)
			put(index+"level", cache[0])
			put(index+"type", cache[1])
			put(index+"size", cache[2])
			put(index+"shared_cpu_list", cache[3])
		}
	}
	put("node/node0/cpulist", "0-1,4-5")
	put("node/node1/cpulist", "2-3,6-7")
	put("node/node2/cpulist", "")
	put("cpu/cpufreq/boost", "1")
	return tree
}

const sysTreeParts = "[{core 0 0 [0 4]} {core 0 0 [1 5]} {core 0 0 [2 6]} {core 0 0 [3 7]} " +
	"{cache 1 49152 [0 4]} {cache 1 49152 [1 5]} {cache 1 49152 [2 6]} {cache 1 49152 [3 7]} " +
	"{cache 2 2097152 [0 4]} {cache 2 2097152 [1 5]} {cache 2 2097152 [2 6]} {cache 2 2097152 [3 7]} " +
	"{cache 3 31457280 [0 1 4 5]} {cache 3 31457280 [2 3 6 7]} " +
	"{numa 0 0 [0 1 4 5]} {numa 0 0 [2 3 6 7]} {socket 0 0 [0 1 4 5]} {socket 0 0 [2 3 6 7]}]"

func TestReadSys(t *testing.T) {
	parts, err := readSys(sysTree())
	if err != nil || fmt.Sprint(parts) != sysTreeParts {
		t.Errorf("readSys = %v, %v, want %s", parts, err, sysTreeParts)
	}
	bare := fstest.MapFS{"devices/system/cpu/cpu0/online": &fstest.MapFile{Data: []byte("1\n")}}
	if parts, err := readSys(bare); err != nil || len(parts) > 0 {
		t.Errorf("of a CPU of which nothing is told: %v, %v, want nothing", parts, err)
	}
	for file, text := range map[string]string{
		"cpu/cpu3/cache/index0/shared_cpu_list":  "3-x",
		"cpu/cpu3/topology/thread_siblings_list": "7-3",
		"cpu/cpu1/cache/index0/size":             "12Q",
		"cpu/cpu1/cache/index2/level":            "",
		"node/node1/cpulist":                     "-1",
		"cpu/cpu2/topology/core_siblings_list":   "0-99999999",
	} {
		tree := sysTree()
		tree["devices/system/"+file] = &fstest.MapFile{Data: []byte(text)}
		if parts, err := readSys(tree); err == nil {
			t.Errorf("%s = %q is read: %v", file, text, parts)
		}
	}
	if _, err := readSys(fstest.MapFS{}); err == nil {
		t.Error("an empty tree is read")
	}
}

// This host, whatever it is, tells of each CPU but once per kind and level.
func TestReadSysOfThisHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /sys")
	}
	if _, err := os.Stat(filepath.Join(sysPath, "devices/system/cpu")); err != nil {
		tooltest.Lacks(t, "a container may hide it: %v", err)
	}
	parts, err := readSys(os.DirFS(sysPath))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[[3]int]bool)
	for _, p := range parts {
		for _, cpu := range p.CPUs {
			key := [3]int{int(p.Kind), p.Level, cpu}
			if seen[key] {
				t.Errorf("CPU %d is in two parts of kind %v and level %d", cpu, p.Kind, p.Level)
			}
			seen[key] = true
		}
	}
}

// masked is a rank on a host that may use some of its CPUs.
type masked struct {
	mpi.Communicator
	host string
	cpus []int
}

func (m masked) Place() mpi.Place { return mpi.Place{Host: m.host, Core: -1, CPUs: m.cpus} }

// Ranks 0 to 3 are bound to cores of host a, both threads each, ranks 4 and 5 of b to its packages, 6 to nothing: caches
// of level 3 and what is as large are those of 0 and 1, and of 2 and 3; no two ranks of b are on one package, and
// rank 6 stays on none. Of the ranks 7 and 8 nothing is known.
func TestTold(t *testing.T) {
	cpus := [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, nil, nil}
	hosts := "aaaabbbcc"
	given, err := readSys(sysTree())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		parts    []encode.HostPart
		read     func() ([]encode.HostPart, error)
		warnings int
		want     string
	}{
		{"by each host", nil, func() ([]encode.HostPart, error) { return readSys(sysTree()) }, 0, "core0[] cache49152[] cache2097152[] cache31457280[[0 1] [2 3]] numa0[[0 1] [2 3]] socket0[[0 1] [2 3]] "},
		{"by rank 0", given, func() ([]encode.HostPart, error) { return nil, errors.New("asked") }, 0, "core0[] cache49152[] cache2097152[] cache31457280[[0 1] [2 3]] numa0[[0 1] [2 3]] socket0[[0 1] [2 3]] "},
		{"by nobody", nil, func() ([]encode.HostPart, error) { return nil, errors.New("no /sys") }, 1, ""},
	} {
		err := local.Run(len(cpus), nil, func(comm mpi.Communicator) error {
			own := masked{comm, hosts[comm.Rank() : comm.Rank()+1], cpus[comm.Rank()]}
			resources, warnings, err := told(own, c.parts, c.read)
			if comm.Rank() != 0 {
				if resources != nil {
					t.Errorf("rank %d has resources", comm.Rank())
				}
				return err
			}
			got := ""
			for _, r := range resources {
				got += fmt.Sprint(r.Kind, r.Bytes, r.Groups, " ")
				if !r.FromSystem {
					t.Errorf("%s: %v is not marked as told", c.name, r)
				}
			}
			got = strings.ReplaceAll(got, " [[", "[[")
			got = strings.ReplaceAll(got, " []", "[]")
			if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(c.want, " ", "") || len(warnings) != c.warnings {
				t.Errorf("%s: %q with warnings %q, want %q and %d", c.name, got, warnings, c.want, c.warnings)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestResourcesPreferWhatWasMeasured(t *testing.T) {
	resource := func(kind topology.Kind, bytes int64, told bool, groups ...[]int) model.Resource {
		return model.Resource{Kind: kind, Bytes: bytes, FromSystem: told, Groups: groups}
	}
	l2, l3 := resource(topology.KindCache, 2<<20, true), resource(topology.KindCache, 30<<20, true, []int{0, 1})
	numa, socket := resource(topology.KindNUMA, 0, true, []int{0, 1}), resource(topology.KindSocket, 0, true, []int{0, 1})
	told := []model.Resource{l2, l3, numa, socket}
	seen := func(largest int, groups ...[]int) *InsideResult {
		return &InsideResult{Bytes: largest, Resources: []model.Resource{resource(topology.KindCache, 2<<20, false, groups...)}}
	}
	memory := &InsideResult{Resources: []model.Resource{resource(topology.KindNUMA, 0, false)}}
	for _, c := range []struct {
		name     string
		memory   *InsideResult
		caches   *InsideResult
		want     []model.Resource
		warnings int
	}{
		{"nothing measured", nil, nil, told, 0},
		{"memory measured", memory, nil, []model.Resource{memory.Resources[0], l2, l3, socket}, 0},
		{"pairs of memory tell nothing", &InsideResult{}, nil, told, 0},
		{"small caches measured", nil, seen(8 << 20), []model.Resource{seen(0).Resources[0], l3, numa, socket}, 0},
		{"all caches measured", nil, seen(64<<20, []int{0, 1}), []model.Resource{seen(0, []int{0, 1}).Resources[0], numa, socket}, 0},
		{"all measured, and none shared", nil, seen(64 << 20), []model.Resource{seen(0).Resources[0], numa, socket}, 1},
		{"no caches seen", nil, &InsideResult{Bytes: 64 << 20}, told, 0},
	} {
		got, warnings := Resources(c.memory, c.caches, told)
		if fmt.Sprint(got) != fmt.Sprint(c.want) || len(warnings) != c.warnings {
			t.Errorf("%s: %v with warnings %q, want %v and %d", c.name, got, warnings, c.want, c.warnings)
		}
	}
}
