package gen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
)

// maxVertices bounds what a specification may ask for; a longer machine is a
// slip of the pen, and would be out of memory before it is out of patience.
const maxVertices = 1 << 20

// A scanner reads a specification from left to right.
type scanner struct {
	spec string
	pos  int
	most int // hosts and switches
}

// errorf is an error at byte position pos.
func (s *scanner) errorf(pos int, format string, args ...any) error {
	return fmt.Errorf("gen: cluster %q: column %d: %s", s.spec, pos+1, fmt.Sprintf(format, args...))
}

// rest is the text at pos up to the end of the word, for error messages.
func (s *scanner) rest(pos int) string {
	word := s.spec[pos:]
	if i := strings.IndexAny(word, " \t\n"); i >= 0 {
		word = word[:i]
	}
	if word == "" {
		return "the end"
	}
	return strconv.Quote(word)
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.spec) && strings.IndexByte(" \t\n", s.spec[s.pos]) >= 0 {
		s.pos++
	}
}

// atEnd tells whether the word ends here.
func (s *scanner) atEnd() bool {
	return s.pos == len(s.spec) || strings.IndexByte(" \t\n", s.spec[s.pos]) >= 0
}

// accept skips the byte c if it is next.
func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.spec) && s.spec[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// end wants the end of the word.
func (s *scanner) end() error {
	if !s.atEnd() {
		return s.errorf(s.pos, "unexpected %s", s.rest(s.pos))
	}
	return nil
}

// name reads letters, digits and hyphens, and returns them in lower case.
func (s *scanner) name() string {
	start := s.pos
	for s.pos < len(s.spec) {
		c := s.spec[s.pos] | 0x20
		if !(c >= 'a' && c <= 'z' || s.pos > start && (c >= '0' && c <= '9' || s.spec[s.pos] == '-')) {
			break
		}
		s.pos++
	}
	return strings.ToLower(s.spec[start:s.pos])
}

// count reads a whole number from least to maxVertices; what says of what.
func (s *scanner) count(what string, least int) (int, error) {
	start := s.pos
	for s.pos < len(s.spec) && s.spec[s.pos] >= '0' && s.spec[s.pos] <= '9' {
		s.pos++
	}
	if start == s.pos {
		return 0, s.errorf(start, "%s: want a number, got %s", what, s.rest(start))
	}
	n, err := strconv.Atoi(s.spec[start:s.pos])
	if err != nil || n < least || n > maxVertices {
		return 0, s.errorf(start, "%s: %s: want %d to %d", what, s.spec[start:s.pos], least, maxVertices)
	}
	return n, nil
}

// counts reads numbers of at least 1, separated by the byte sep.
func (s *scanner) counts(what string, sep byte) ([]int, error) {
	var ns []int
	for {
		n, err := s.count(what, 1)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
		if !s.accept(sep) {
			return ns, nil
		}
	}
}

// seconds and rate read a value in s and in B/s.
func seconds(text string) (float64, error) { return withUnit(text, false) }

func rate(text string) (float64, error) { return withUnit(text, true) }

func withUnit(text string, isRate bool) (float64, error) {
	v, hasUnit, err := quantity.Parse(text, isRate)
	if err == nil && !hasUnit {
		err = fmt.Errorf("%q: want a number and a unit, such as 10us or 1.25GBps", text)
	}
	return v, err
}

// quantities reads a comma-separated list of values with units, each in
// [least, most], and returns them with their positions.
func (s *scanner) quantities(what string, read func(string) (float64, error), least, most float64) (values []float64, at []int, err error) {
	for {
		start := s.pos
		for s.pos < len(s.spec) && strings.IndexByte(", \t\n", s.spec[s.pos]) < 0 {
			s.pos++
		}
		v, err := read(s.spec[start:s.pos])
		if err != nil {
			return nil, nil, s.errorf(start, "%s: %v", what, err)
		}
		if !(v >= least && v <= most) {
			return nil, nil, s.errorf(start, "%s: %s: want %g to %g in SI units", what, s.spec[start:s.pos], least, most)
		}
		values, at = append(values, v), append(at, start)
		if !s.accept(',') {
			return values, at, nil
		}
	}
}
