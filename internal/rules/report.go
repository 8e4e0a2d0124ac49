package table

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A NativeRun is what a report of topocast bcast says of the library's own broadcast: one job's
// times with one setting of the library.
type NativeRun struct {
	Job
	Root    int
	Hosts   int   // on which the ranks ran
	PerHost []int // numbers of ranks on a host, each once

	// Environment has the variables that set the library's collectives: OMPI_MCA_coll_... and those
	// of MPICH. mpirun --mca and -genv make such variables.
	Environment map[string]string

	Times []NativeTime
}

// A NativeTime is that of one size.
type NativeTime struct {
	Bytes     int64
	Median    float64 // s
	Low, High float64 // s, the interval of the median; where there were too few samples, of all of them
}

// IsLibrarySetting tells whether a variable of the environment sets how a library does
// collectives: whether a NativeRun needs it. MPICH's launcher sets one that does not.
func IsLibrarySetting(name string) bool {
	if strings.HasSuffix(name, "_INTERFACE_HOSTNAME") {
		return false
	}
	for _, prefix := range []string{"OMPI_MCA_coll_", "MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ReadNativeRun reads what a NativeRun needs of a report: JSON of the format "topocast/bcast-benchmark"
// from version 2 on.
func ReadNativeRun(r io.Reader) (*NativeRun, error) {
	var f struct {
		Version     int               `json:"version"`
		Ranks       int               `json:"ranks"`
		Root        int               `json:"root"`
		Library     string            `json:"library"`
		Places      string            `json:"places"`
		Hosts       int               `json:"hosts"`
		PerHost     []int             `json:"ranks_per_host"`
		Environment map[string]string `json:"environment"`
		Rows        []struct {
			Bytes    int64    `json:"bytes"`
			Variant  string   `json:"variant"`
			Median   float64  `json:"median_s"`
			Low      *float64 `json:"median_low_s"`
			High     *float64 `json:"median_high_s"`
			Min      float64  `json:"min_s"`
			Max      float64  `json:"max_s"`
			Verified bool     `json:"verified"`
		} `json:"rows"`
	}
	const format, version = "topocast/bcast-benchmark", 2
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("table: read report: %w", err)
	}
	if found := jsonfile.Format(data); found != format {
		return nil, fmt.Errorf("table: read report: format is %q, want %q: what topocast bcast --json prints", found, format)
	}
	if err := jsonfile.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("table: read report: %w", err)
	}
	switch {
	case f.Version < version:
		return nil, fmt.Errorf("table: read report: version is %d, which does not say how the library was set: want %d", f.Version, version)
	case f.Ranks < 2 || f.Hosts < 1 || f.Root < 0 || f.Root >= f.Ranks:
		return nil, fmt.Errorf("table: read report: %d ranks on %d hosts, root %d: want at least 2 and 1", f.Ranks, f.Hosts, f.Root)
	}
	run := &NativeRun{
		Job: Job{f.Ranks, f.Library, f.Places}, Root: f.Root, Hosts: f.Hosts, PerHost: f.PerHost, Environment: f.Environment,
	}
	for _, x := range f.Rows {
		if x.Variant != Native || x.Bytes == 0 {
			continue
		}
		t := NativeTime{Bytes: x.Bytes, Median: x.Median, Low: x.Min, High: x.Max}
		if x.Low != nil && x.High != nil {
			t.Low, t.High = *x.Low, *x.High
		}
		if !x.Verified || x.Bytes < 0 || !(t.Low > 0 && t.Low <= t.Median && t.Median <= t.High) || math.IsInf(t.High, 0) {
			return nil, fmt.Errorf("table: read report: %d bytes: median %g s in [%g, %g], verified %v: want that right", x.Bytes, t.Median, t.Low, t.High, x.Verified)
		}
		if slices.ContainsFunc(run.Times, func(o NativeTime) bool { return o.Bytes == t.Bytes }) {
			return nil, fmt.Errorf("table: read report: %d bytes: given twice", x.Bytes)
		}
		run.Times = append(run.Times, t)
	}
	if len(run.Times) == 0 {
		return nil, fmt.Errorf("table: read report: no times of the library's own broadcast")
	}
	return run, nil
}

// A Forced is a setting of the library's broadcast that a rules file can hold. The zero value is the
// library's own choice.
type Forced struct {
	Algorithm string // its number in Open MPI, its name in MPICH; "": the library's choice
	Fanout    int    // Open MPI: of chains; 0: its default
	Segment   int    // Open MPI: bytes; 0: whole
}

func (f Forced) String() string {
	if f.Algorithm == "" {
		return "the library's choice"
	}
	s := f.Algorithm
	if i, err := strconv.Atoi(s); err == nil && i < len(openMPIAlgorithms) {
		s = openMPIAlgorithms[i]
	}
	if f.Segment > 0 {
		s += fmt.Sprintf(", segments of %d B", f.Segment)
	}
	if f.Fanout > 0 {
		s += fmt.Sprintf(", fanout %d", f.Fanout)
	}
	return s
}

// openMPIAlgorithms are those of coll_tuned_bcast_algorithm in Open MPI 4.1, by number.
var openMPIAlgorithms = [...]string{
	"ignore", "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial", "scatter_allgather", "scatter_allgather_ring",
}

const (
	openMPIForced = "OMPI_MCA_coll_tuned_bcast_algorithm"
	openMPIUse    = "OMPI_MCA_coll_tuned_use_dynamic_rules"
	mpichForced   = "MPIR_CVAR_BCAST_INTRA_ALGORITHM"
)

// forced takes from the environment what a rules file can hold, and returns the rest of it.
func (r *NativeRun) forced() (f Forced, rest map[string]string, err error) {
	rest = maps.Clone(r.Environment)
	take := func(name string) string {
		value := rest[name]
		delete(rest, name)
		return value
	}
	number := func(name string) int {
		text := take(name)
		if text == "" {
			return 0
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil || n < 0 {
			err = fmt.Errorf("%s=%s: want a number", name, text)
		}
		return n
	}
	f.Segment, f.Fanout = number(openMPIForced+"_segmentsize"), number(openMPIForced+"_chain_fanout")
	used := take(openMPIUse)
	if name := take(openMPIForced); name != "" {
		i, wrong := strconv.Atoi(name)
		if wrong != nil {
			i = slices.Index(openMPIAlgorithms[:], name)
		}
		if i < 0 || i >= len(openMPIAlgorithms) {
			return f, nil, fmt.Errorf("%s=%s: not an algorithm of Open MPI 4.1", openMPIForced, name)
		}
		if i > 0 {
			f.Algorithm = strconv.Itoa(i)
		}
	}
	if name := take(mpichForced); name != "" && name != "auto" {
		f.Algorithm = name
	}
	switch {
	case err != nil:
	case strings.HasPrefix(r.Library, "Open MPI") && f != (Forced{}) && used != "1" && used != "true":
		err = fmt.Errorf("%s has no effect without %s=1", openMPIForced, openMPIUse)
	case f.Algorithm == "":
		f = Forced{} // settings of nothing
	}
	return f, rest, err
}
