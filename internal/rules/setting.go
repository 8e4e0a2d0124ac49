package rules

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// A setting is the algorithm that a job forced on the library's broadcasts, of those that a file can
// name. The zero value leaves the choice to the library.
type setting struct {
	algorithm string // Open MPI: its number; MPICH: its name
	fanout    int    // Open MPI: number of chains; 0: the default
	segment   int    // Open MPI: bytes; 0: the whole message
}

func (s setting) String() string {
	if s.algorithm == "" {
		return "the library's choice"
	}
	text := s.algorithm
	if i, err := strconv.Atoi(text); err == nil {
		text = openMPIAlgorithms[i]
	}
	if s.segment > 0 {
		text += fmt.Sprintf(", segments of %d B", s.segment)
	}
	if s.fanout > 0 {
		text += fmt.Sprintf(", fanout %d", s.fanout)
	}
	return text
}

// setting tells the forced algorithm by the environment of the job, and returns what else was set. It refuses
// reports whose times are not those of the algorithm that the environment names.
func (r *Report) setting() (s setting, others map[string]string, err error) {
	others = maps.Clone(r.Environment)
	switch {
	case version(r.Library, openMPI) > 0:
		s, err = r.openMPISetting(others)
	case version(r.Library, mpich) > 0:
		s, err = r.mpichSetting(others)
	}
	if err != nil {
		return setting{}, nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return s, others, nil
}

// What the names of the libraries begin with; the version follows.
const (
	openMPI = "Open MPI v"
	mpich   = "MPICH Version: "
)

// version is the major version of a library, or 0 if the library has another name or no version.
func version(library, name string) (major int) {
	if text, is := strings.CutPrefix(library, name); is {
		number, _, _ := strings.Cut(text, ".")
		major, _ = strconv.Atoi(number)
	}
	return major
}

// take removes a variable from an environment and returns its value.
func take(environment map[string]string, name string) string {
	value := environment[name]
	delete(environment, name)
	return value
}

// replacedFile refuses an environment that names a file of rules. A new file takes its place, so that
// what was measured with the old one does not hold.
func replacedFile(environment map[string]string, name string) error {
	if file := environment[name]; file != "" {
		return fmt.Errorf("%s=%s: measured with a file of rules, which a new one replaces: measure without", name, file)
	}
	return nil
}
