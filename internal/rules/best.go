package table

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/quantity"
)

// NativeRules are the best of a library's own settings by size, for the communicators of one job.
type NativeRules struct {
	Job
	sizes []int // of the communicators in which the library broadcasts for the job, ascending
	rules []nativeRule
}

// A nativeRule is for messages of up to so many bytes, and more than those of the rule before; the last
// one for all that are longer, too.
type nativeRule struct {
	upTo   int64
	forced Forced
	gain   float64 // over the library's choice; 1 for that itself
}

// BestNative chooses, of reports of jobs that differ in nothing but what was forced on the library, and in
// roots, the fastest setting for each size. The library's own choice, which has to be among them, is the
// incumbent: a setting goes before it if the intervals of the medians lie apart, from every root, and of
// those the one with the least geometric mean of the medians. Ties go to the one that was given first.
func BestNative(runs []NativeRun) (*NativeRules, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("table: native: no reports")
	}
	type timed struct {
		forced Forced
		times  map[[2]int64]NativeTime // by size and root
	}
	var all []timed
	first := &runs[0]
	_, same, err := first.forced()
	if err != nil {
		return nil, fmt.Errorf("table: native: report 1: %w", err)
	}
	for i := range runs {
		r := &runs[i]
		if r.Job != first.Job || r.Hosts != first.Hosts {
			return nil, fmt.Errorf("table: native: report %d is of another job (%d ranks, %s, places %s) than the first (%d ranks, %s, places %s)",
				i+1, r.Ranks, r.Library, r.Places, first.Ranks, first.Library, first.Places)
		}
		forced, rest, err := r.forced()
		if err != nil {
			return nil, fmt.Errorf("table: native: report %d: %w", i+1, err)
		}
		for _, name := range slices.Sorted(maps.Keys(joined(rest, same))) {
			if rest[name] != same[name] {
				return nil, fmt.Errorf("table: native: report %d differs from the first in %s, which no rules can hold", i+1, name)
			}
		}
		k := slices.IndexFunc(all, func(t timed) bool { return t.forced == forced })
		if k < 0 {
			k = len(all)
			all = append(all, timed{forced, map[[2]int64]NativeTime{}})
		}
		for _, t := range r.Times {
			key := [2]int64{t.Bytes, int64(r.Root)}
			if _, twice := all[k].times[key]; twice {
				return nil, fmt.Errorf("table: native: report %d: %s, %d bytes from root %d: reported before", i+1, forced, t.Bytes, r.Root)
			}
			all[k].times[key] = t
		}
	}
	own := slices.IndexFunc(all, func(t timed) bool { return t.forced == Forced{} })
	if own < 0 {
		return nil, fmt.Errorf("table: native: no report of the library's own choice, with nothing forced")
	}
	bySize := make(map[int64][]int64) // the roots
	for key := range all[own].times {
		bySize[key[0]] = append(bySize[key[0]], key[1])
	}
	rules := &NativeRules{Job: first.Job, sizes: first.communicators()}
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		best := nativeRule{upTo: size, gain: 1}
		for _, t := range all {
			logGain := 0.0
			for _, root := range bySize[size] {
				key := [2]int64{size, root}
				mine, ok := t.times[key]
				if !ok || !(mine.High < all[own].times[key].Low) {
					logGain = math.Inf(-1)
					break
				}
				logGain += math.Log(all[own].times[key].Median/mine.Median) / float64(len(bySize[size]))
			}
			if gain := math.Exp(logGain); gain > best.gain {
				best.forced, best.gain = t.forced, gain
			}
		}
		rules.rules = append(rules.rules, best)
	}
	return rules, nil
}

func joined(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

// communicators are the sizes of those in which a library broadcasts for a job: that of all ranks
// and, where hosts have several, that of one rank of each host, and those of the ranks of a host.
func (r *NativeRun) communicators() []int {
	sizes := []int{r.Ranks}
	if r.Hosts > 1 && r.Hosts < r.Ranks {
		sizes = append(append(sizes, r.Hosts), r.PerHost...)
	}
	slices.Sort(sizes)
	return slices.DeleteFunc(slices.Compact(sizes), func(n int) bool { return n < 2 })
}

// merged are the rules for all sizes. What was measured holds down to half of its size, and between two
// neighbours that agree; the library chooses for sizes that are further from any. Beyond the largest one
// its rule goes on.
func (r *NativeRules) merged() []nativeRule {
	var out []nativeRule
	put := func(x nativeRule) {
		if n := len(out); n > 0 && out[n-1].forced == x.forced {
			out[n-1].upTo = x.upTo
			return
		}
		out = append(out, x)
	}
	last := nativeRule{}
	for i, x := range r.rules {
		if half := x.upTo / 2; half > last.upTo && (i == 0 || x.forced != last.forced) {
			put(nativeRule{upTo: half, gain: 1})
		}
		put(x)
		last = x
	}
	return out
}

// WriteText writes the choice and its gain for each size, for people.
func (r *NativeRules) WriteText(w io.Writer) error {
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bytes\tbest of the library\tgain")
	for _, x := range r.rules {
		fmt.Fprintf(t, "%s\t%s\t%.3g\n", quantity.Bytes(x.upTo), x.forced, x.gain)
	}
	t.Flush()
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("table: native: %w", err)
	}
	return nil
}

// WriteOpenMPI writes the rules as Open MPI 4.1 reads them (coll_tuned_dynamic_rules_filename, with
// coll_tuned_use_dynamic_rules 1). Its rules go on for larger communicators and messages until the next ones
// do, so those for one rank more give the choice back to the library.
func (r *NativeRules) WriteOpenMPI(w io.Writer) error {
	if !strings.HasPrefix(r.Library, "Open MPI") {
		return fmt.Errorf("table: native: times of %q: want Open MPI's for its rules", r.Library)
	}
	const (
		bcast       = 7 // among the collectives
		usualFanout = 4 // coll_tuned_bcast_algorithm_chain_fanout of those who set none
	)
	rules := r.merged()
	var out strings.Builder
	fmt.Fprintf(&out, "1 # collectives\n%d # broadcast\n2 # sizes of communicators\n%d # ranks: %q\n%d # rules: from so many bytes on: algorithm, fanout, bytes of a segment\n",
		bcast, r.Ranks, r.Library, len(rules))
	from := int64(0)
	for _, x := range rules {
		algorithm, fanout := x.forced.Algorithm, x.forced.Fanout
		if algorithm == "" {
			algorithm = "0"
		} else if fanout == 0 {
			fanout = usualFanout
		}
		fmt.Fprintf(&out, "%d %s %d %d # %s\n", from, algorithm, fanout, x.forced.Segment, x.forced)
		from = x.upTo + 1
	}
	fmt.Fprintf(&out, "%d # ranks and more\n1 # rule\n0 0 0 0 # the library's choice\n", r.Ranks+1)
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("table: native: %w", err)
	}
	return nil
}
