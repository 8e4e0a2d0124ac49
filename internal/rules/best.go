package rules

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/benchmark"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model/results"
)

// Rules are the fastest algorithms of a library by size, for the communicators of one job.
type Rules struct {
	job     *Report           // one of the reports: all are of the same job
	shared  map[string]string // variables that were set alike for all reports
	choices []choice          // by size, ascending
}

// A choice is the fastest setting for one measured size.
type choice struct {
	bytes int64
	setting
	gain float64 // over the library's choice; 1 for that itself
}

// A trial is what was measured with one setting.
type trial struct {
	setting
	times map[key]benchmark.Row
}

// A key is a measured case.
type key struct {
	bytes int64
	root  int
}

// Best chooses the fastest setting for each size. The reports are of the same ranks, hosts, places and library.
// They differ in the forced algorithm, and in the root if several roots were measured. One has nothing forced:
// the library's choice, which has to be measured for every size and root.
//
// A setting replaces the library's choice if the intervals of the medians are apart for every root. Of several
// such settings, the one with the least geometric mean of the medians is chosen, and of equals the first.
func Best(reports []Report) (*Rules, error) {
	if len(reports) == 0 {
		return nil, fmt.Errorf("no reports")
	}
	rules := &Rules{job: &reports[0]}
	var trials []trial
	for i := range reports {
		r := &reports[i]
		if r.Ranks != rules.job.Ranks || r.Library != rules.job.Library || r.Places != rules.job.Places || r.Hosts != rules.job.Hosts {
			return nil, fmt.Errorf("%s is of another job (%s) than %s (%s)", r.name, r.jobText(), rules.job.name, rules.job.jobText())
		}
		forced, others, err := r.setting()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			rules.shared = others
		}
		if name := difference(rules.shared, others); name != "" {
			return nil, fmt.Errorf("%s differs from %s in %s: want the same but for the algorithm of broadcasts", r.name, rules.job.name, name)
		}
		k := slices.IndexFunc(trials, func(t trial) bool { return t.setting == forced })
		if k < 0 {
			k = len(trials)
			trials = append(trials, trial{forced, map[key]benchmark.Row{}})
		}
		for _, t := range r.Rows {
			at := key{int64(t.Bytes), r.Root}
			if _, twice := trials[k].times[at]; twice {
				return nil, fmt.Errorf("%s: %s, %d bytes from root %d: reported before", r.name, forced, t.Bytes, r.Root)
			}
			trials[k].times[at] = t
		}
	}
	native := slices.IndexFunc(trials, func(t trial) bool { return t.setting == setting{} })
	if native < 0 {
		return nil, fmt.Errorf("no report of the library's own choice, with nothing forced")
	}
	rules.choices = fastest(trials[native].times, trials)
	return rules, nil
}

// fastest chooses for each size of native, the times of the library's choice.
func fastest(native map[key]benchmark.Row, trials []trial) (choices []choice) {
	roots := make(map[int64][]int) // by size
	for at := range native {
		roots[at.bytes] = append(roots[at.bytes], at.root)
	}
	for _, bytes := range slices.Sorted(maps.Keys(roots)) {
		best := choice{bytes: bytes, gain: 1}
		for _, t := range trials {
			logGain := 0.0
			for _, root := range roots[bytes] {
				at := key{bytes, root}
				forced, measured := t.times[at]
				if !measured || !(forced.High < native[at].Low) {
					logGain = math.Inf(-1)
					break
				}
				logGain += math.Log(native[at].Median/forced.Median) / float64(len(roots[bytes]))
			}
			if gain := math.Exp(logGain); gain > best.gain {
				best.setting, best.gain = t.setting, gain
			}
		}
		choices = append(choices, best)
	}
	return choices
}

// jobText describes the job in an error.
func (r *Report) jobText() string {
	return fmt.Sprintf("%d ranks on %d hosts, places %s, %s", r.Ranks, r.Hosts, r.Places, r.Library)
}

// difference is the first name under which two environments differ, or "".
func difference(a, b map[string]string) string {
	all := make(map[string]string)
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			return name
		}
	}
	return ""
}

// A sizeRange is what the rules say of messages of from to upTo bytes.
type sizeRange struct {
	from, upTo int64
	setting
}

// ranges are the rules for all sizes, from 0 on; the last range has no end, whatever its upTo. A measured choice
// holds from half its size on, and between two neighbours that agree. The library chooses elsewhere. The choice
// for the largest size holds for all that are larger.
func (r *Rules) ranges() []sizeRange {
	var out []sizeRange
	add := func(upTo int64, s setting) {
		n := len(out)
		switch {
		case n == 0:
			out = append(out, sizeRange{0, upTo, s})
		case out[n-1].setting == s:
			out[n-1].upTo = upTo
		default:
			out = append(out, sizeRange{out[n-1].upTo + 1, upTo, s})
		}
	}
	last := choice{}
	for i, x := range r.choices {
		if half := x.bytes / 2; half > last.bytes && (i == 0 || x.setting != last.setting) {
			add(half, setting{})
		}
		add(x.bytes, x.setting)
		last = x
	}
	return out
}

// WriteText writes a table of the choices and their gains over the library's choice.
func (r *Rules) WriteText(w io.Writer) error {
	t := columns.New(w, "bytes", "best of the library", "gain")
	for _, x := range r.choices {
		t.Row(quantity.Bytes(x.bytes), x.setting, fmt.Sprintf("%.3g", x.gain))
	}
	t.Flush()
	return nil
}

// Result is the same for programs.
func (r *Rules) Result() *results.Rules {
	out := &results.Rules{Library: r.job.Library, Ranks: r.job.Ranks, Choices: []results.RuleChoice{}}
	for _, x := range r.choices {
		out.Choices = append(out.Choices, results.RuleChoice{Bytes: x.bytes, Setting: fmt.Sprint(x.setting), Gain: x.gain})
	}
	return out
}

// Options are the options of mpirun under which a job reads the file and has the measured times: the settings
// that all reports share, and the name of the file. They are quoted for a shell.
func (r *Rules) Options(file string) string {
	var options []string
	add := func(name, value string) {
		switch short, is := strings.CutPrefix(name, openMPIPrefix); {
		case version(r.job.Library, mpich) > 0 && !is:
			options = append(options, "-genv", name, quoted(value))
		case version(r.job.Library, openMPI) > 0 && is:
			options = append(options, "--mca", short, quoted(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.shared)) {
		add(name, r.shared[name])
	}
	add(openMPIUse, "1")
	add(openMPIFile, file)
	add(mpichFile, file)
	return strings.Join(options, " ")
}

// quoted is a word of a shell's command line.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return strings.ContainsRune(" \t\n\"'`\\$&|;<>()*?[]{}#~!", c) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
