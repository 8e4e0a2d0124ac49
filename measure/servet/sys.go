package servet

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/cpulist"
	"github.com/topocast/topocast/topology"
)

// sysPath is where Linux tells of its hardware.
const sysPath = "/sys"

// A Part is a part of a host that some of its CPUs have in common.
type Part struct {
	Kind  topology.Kind // KindCore, KindCache, KindNUMA or KindSocket
	Level int           // of a cache, 1 the nearest; else 0
	Bytes int           // of a cache; else 0
	CPUs  []int         // logical ones, ascending
}

// readSys reads what Linux tells of a host's caches, NUMA nodes, cores and packages below /sys, which is
// os.DirFS("/sys") or a copy of it: devices/system/cpu/cpu*/cache/index* and topology, devices/system/node/node*.
// Caches of instructions are left out, and so is what is not there. Parts are sorted by kind, level and CPUs.
// It is an error if there is no CPU, or a file that cannot be understood.
func readSys(sys fs.FS) ([]Part, error) {
	cpus, err := fs.Glob(sys, "devices/system/cpu/cpu[0-9]*")
	if err != nil || len(cpus) == 0 {
		return nil, errors.Join(errors.New("servet: no CPUs below devices/system/cpu"), err)
	}
	r := sysReader{sys: sys}
	for _, cpu := range cpus {
		r.list(topology.KindCore, path.Join(cpu, "topology/thread_siblings_list"))
		r.list(topology.KindSocket, path.Join(cpu, "topology/core_siblings_list"))
		caches, _ := fs.Glob(sys, path.Join(cpu, "cache/index[0-9]*")) // the pattern is a good one
		for _, cache := range caches {
			r.cache(cache)
		}
	}
	nodes, _ := fs.Glob(sys, "devices/system/node/node[0-9]*")
	for _, node := range nodes {
		r.list(topology.KindNUMA, path.Join(node, "cpulist"))
	}
	if r.err != nil {
		return nil, fmt.Errorf("servet: %w", r.err)
	}
	return sortParts(r.parts), nil
}

// sortParts sorts them and leaves each but once.
func sortParts(parts []Part) []Part {
	compare := func(a, b Part) int {
		return slices.Compare(append([]int{int(a.Kind), a.Level}, a.CPUs...), append([]int{int(b.Kind), b.Level}, b.CPUs...))
	}
	slices.SortFunc(parts, compare)
	return slices.CompactFunc(parts, func(a, b Part) bool { return compare(a, b) == 0 })
}

type sysReader struct {
	sys   fs.FS
	parts []Part
	err   error // the first one
}

// text is what a file of one line says; "" if there is none.
func (r *sysReader) text(file string) string {
	data, err := fs.ReadFile(r.sys, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && r.err == nil {
		r.err = err
	}
	return strings.TrimSpace(string(data))
}

// list adds a part of the CPUs that a file lists. NUMA nodes may have memory only.
func (r *sysReader) list(kind topology.Kind, file string) {
	if cpus := r.cpus(file); len(cpus) > 0 {
		r.parts = append(r.parts, Part{Kind: kind, CPUs: cpus})
	}
}

func (r *sysReader) cpus(file string) []int {
	cpus, err := cpulist.List(r.text(file))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", file, err)
	}
	return cpus
}

func (r *sysReader) cache(dir string) {
	cpus := r.cpus(path.Join(dir, "shared_cpu_list"))
	if len(cpus) == 0 || r.text(path.Join(dir, "type")) == "Instruction" {
		return
	}
	level, err := strconv.Atoi(r.text(path.Join(dir, "level")))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s/level: %w", dir, err)
	}
	bytes, err := parseSize(r.text(path.Join(dir, "size")))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s/size: %w", dir, err)
	}
	r.parts = append(r.parts, Part{Kind: topology.KindCache, Level: level, Bytes: bytes, CPUs: cpus})
}

// parseSize reads 48K, 2M and the like; virtual machines may tell nothing, which is 0.
func parseSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	shift := 0
	switch text[len(text)-1] {
	case 'K':
		shift = 10
	case 'M':
		shift = 20
	case 'G':
		shift = 30
	}
	if shift > 0 {
		text = text[:len(text)-1]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxBytes {
		return 0, fmt.Errorf("size %q: want a number and K, M or G", text)
	}
	return n << shift, nil
}
