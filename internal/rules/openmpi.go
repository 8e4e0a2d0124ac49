package rules

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// openMPIAlgorithms are the values of coll_tuned_bcast_algorithm in Open MPI 4.1 to 6.0, by number.
var openMPIAlgorithms = []string{
	"ignore", "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial", "scatter_allgather", "scatter_allgather_ring",
}

// Open MPI's variables. mpirun --mca sets each without the prefix.
const (
	openMPIPrefix = "OMPI_MCA_"
	openMPIForced = openMPIPrefix + "coll_tuned_bcast_algorithm"
	openMPIUse    = openMPIPrefix + "coll_tuned_use_dynamic_rules"
	openMPIFile   = openMPIPrefix + "coll_tuned_dynamic_rules_filename"
	components    = openMPIPrefix + "coll" // a list of those that are used or, after ^, of those that are not
	hanPriority   = openMPIPrefix + "coll_han_priority"
	hanInstead    = openMPIPrefix + "coll_han_bcast_dynamic_global_communicator_module" // component that broadcasts instead of HAN
	tunedInstead  = "3"                                                                 // for hanInstead: tuned
)

// openMPISetting takes the forced algorithm out of the environment.
func (r *Report) openMPISetting(environment map[string]string) (setting, error) {
	var s setting
	if err := replacedFile(environment, openMPIFile); err != nil {
		return s, err
	}
	for _, x := range []struct {
		name string
		to   *int
	}{{openMPIForced + "_segmentsize", &s.segment}, {openMPIForced + "_chain_fanout", &s.fanout}} {
		text := take(environment, x.name)
		if text == "" {
			continue
		}
		var err error
		if *x.to, err = strconv.Atoi(text); err != nil || *x.to < 0 {
			return s, fmt.Errorf("%s=%s: want a number", x.name, text)
		}
	}
	used, name := take(environment, openMPIUse), take(environment, openMPIForced)
	i, err := strconv.Atoi(name)
	if err != nil {
		i = slices.Index(openMPIAlgorithms, name)
	}
	switch {
	case name == "" || i == 0:
		return setting{}, nil // segments or chains alone have no effect
	case i < 0 || i >= len(openMPIAlgorithms):
		return s, fmt.Errorf("%s=%s: want %s", openMPIForced, name, words.Or(openMPIAlgorithms))
	case used != "1" && used != "true":
		return s, fmt.Errorf("%s has no effect without %s=1", openMPIForced, openMPIUse)
	case r.hanBroadcast():
		return s, fmt.Errorf("on several hosts HAN broadcast, not the algorithm that was forced: measure all with --mca %s %s",
			strings.TrimPrefix(hanInstead, openMPIPrefix), tunedInstead)
	}
	s.algorithm = strconv.Itoa(i)
	return s, nil
}

// hanBroadcast tells whether Open MPI broadcast by its component HAN instead of tuned. HAN steps aside on one
// host and where each host has one rank. The priority of HAN is 35 in Open MPI 5 and 6, and 0 in 4.1.
func (r *Report) hanBroadcast() bool {
	const tunedPriority = 30
	if r.Hosts == 1 || r.Hosts == r.Ranks || r.Environment[hanInstead] == tunedInstead {
		return false
	}
	if list := r.Environment[components]; list != "" {
		names, excluded := strings.CutPrefix(list, "^")
		if slices.Contains(strings.Split(names, ","), "han") == excluded {
			return false
		}
	}
	if priority, err := strconv.Atoi(r.Environment[hanPriority]); err == nil {
		return priority > tunedPriority
	}
	return version(r.Library, openMPI) >= 5
}

// WriteOpenMPI writes the rules for the version of Open MPI that was measured: in the classic format for versions
// below 6, and in JSON from 6 on. Reports of an unknown version are refused.
func (r *Rules) WriteOpenMPI(w io.Writer) error {
	major := version(r.job.Library, openMPI)
	if major == 0 {
		return fmt.Errorf("times of %q: want those of Open MPI, with its version, on which the format depends", r.job.Library)
	}
	content := r.openMPIClassic()
	if major >= 6 {
		content = r.openMPIJSON()
	}
	_, err := w.Write(content)
	return err
}

// openMPIClassic is the file in the format of Open MPI 4.1 and 5.0.
func (r *Rules) openMPIClassic() []byte {
	const (
		bcast    = 7 // among the collectives
		noChoice = "1 # rule\n0 0 0 0 # the library's choice\n"
	)
	ranges := r.ranges()
	out := fmt.Appendf(nil, "1 # collectives\n%d # broadcast\n3 # sizes of communicators\n1 # ranks and more\n%s", bcast, noChoice)
	out = fmt.Appendf(out, "%d # ranks: %q\n%d # rules: from so many bytes on: algorithm, fanout, bytes of a segment\n", r.job.Ranks, r.job.Library, len(ranges))
	for _, x := range ranges {
		algorithm, fanout := x.openMPI()
		out = fmt.Appendf(out, "%d %d %d %d # %s\n", x.from, algorithm, fanout, x.segment, x.setting)
	}
	return fmt.Appendf(out, "%d # ranks and more\n%s", r.job.Ranks+1, noChoice)
}

// openMPIJSON is the file in the format of Open MPI 6.
func (r *Rules) openMPIJSON() []byte {
	out := fmt.Appendf(nil, `{"rule_file_version":3,"module":"tuned","collectives":{"bcast":[{"comm_size_min":%d,"comm_size_max":%[1]d,"rules":[`, r.job.Ranks)
	ranges := r.ranges()
	for i, x := range ranges {
		algorithm, fanout := x.openMPI()
		most, end := strconv.FormatInt(x.upTo, 10), ","
		if i == len(ranges)-1 {
			most, end = `"inf"`, "]}]}}"
		}
		out = fmt.Appendf(out, "\n"+`{"msg_size_min":%d,"msg_size_max":%s,"alg":%d,"faninout":%d,"seg_size":%d}%s`, x.from, most, algorithm, fanout, x.segment, end)
	}
	return append(out, '\n')
}

// openMPI is the algorithm as a file names it, and its fanout. 0 leaves the choice to the library.
func (s setting) openMPI() (algorithm, fanout int) {
	const defaultFanout = 4 // of coll_tuned_bcast_algorithm_chain_fanout
	algorithm, _ = strconv.Atoi(s.algorithm)
	if algorithm > 0 {
		fanout = cmp.Or(s.fanout, defaultFanout)
	}
	return algorithm, fanout
}
