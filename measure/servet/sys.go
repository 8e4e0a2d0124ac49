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
	"github.com/topocast/topocast/topology/encode"
)

// sysPath is where Linux tells of its hardware.
const sysPath = "/sys"

// readSys reads what Linux tells of a host's caches, NUMA nodes, cores and packages below /sys, which is
// os.DirFS("/sys") or a copy of it: devices/system/cpu/cpu*/cache/index* and topology, devices/system/node/node*.
// Caches of instructions are left out, and so is what is not there. Parts are sorted by kind, level and CPUs.
// It is an error if there is no CPU, or a file that cannot be understood.
func readSys(sys fs.FS) ([]encode.HostPart, error) {
	cpus, err := fs.Glob(sys, "devices/system/cpu/cpu[0-9]*")
	if err != nil || len(cpus) == 0 {
		return nil, errors.Join(errors.New("servet: no CPUs below devices/system/cpu"), err)
	}
	r := sysReader{sys: sys}
	r.parts(topology.KindCore, "cpu/cpu[0-9]*/topology/thread_siblings_list")
	r.parts(topology.KindSocket, "cpu/cpu[0-9]*/topology/core_siblings_list")
	r.parts(topology.KindCache, "cpu/cpu[0-9]*/cache/index[0-9]*/shared_cpu_list")
	r.parts(topology.KindNUMA, "node/node[0-9]*/cpulist")
	if r.err != nil {
		return nil, fmt.Errorf("servet: %w", r.err)
	}
	return sortParts(r.all), nil
}

// sortParts sorts them and leaves each but once.
func sortParts(parts []encode.HostPart) []encode.HostPart {
	compare := func(a, b encode.HostPart) int {
		return slices.Compare(append([]int{int(a.Kind), a.Level}, a.CPUs...), append([]int{int(b.Kind), b.Level}, b.CPUs...))
	}
	slices.SortFunc(parts, compare)
	return slices.CompactFunc(parts, func(a, b encode.HostPart) bool { return compare(a, b) == 0 })
}

type sysReader struct {
	sys fs.FS
	all []encode.HostPart
	err error // the first one
}

// parts adds those of a kind, whose CPUs are listed in files. NUMA nodes may have memory only.
func (r *sysReader) parts(kind topology.Kind, files string) {
	found, _ := fs.Glob(r.sys, "devices/system/"+files) // the pattern is a good one
	for _, file := range found {
		p := encode.HostPart{Kind: kind}
		read(r, file, &p.CPUs, cpulist.List)
		if len(p.CPUs) == 0 {
			continue
		}
		if dir := path.Dir(file); kind == topology.KindCache {
			what := ""
			read(r, path.Join(dir, "type"), &what, func(text string) (string, error) { return text, nil })
			if what == "Instruction" {
				continue
			}
			read(r, path.Join(dir, "level"), &p.Level, strconv.Atoi)
			read(r, path.Join(dir, "size"), &p.Bytes, parseSize)
		}
		r.all = append(r.all, p)
	}
}

// read parses a file of one line, "" if there is none.
func read[T any](r *sysReader, file string, into *T, parse func(text string) (T, error)) {
	data, err := fs.ReadFile(r.sys, file)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		*into, err = parse(strings.TrimSpace(string(data)))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", file, err)
	}
}

// parseSize reads 48K, 2M and the like; virtual machines may tell nothing, which is 0.
func parseSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimRight(text, "KMG")
	shift, known := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}[text[len(digits):]]
	n, err := strconv.Atoi(digits)
	if !known || err != nil || n < 0 || n > maxBytes {
		return 0, fmt.Errorf("size %q: want a number and K, M or G", text)
	}
	return n << shift, nil
}
