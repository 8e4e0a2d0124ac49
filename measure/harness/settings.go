package harness

import (
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/topology"
)

// Pairs says which pairs are measured, and in which rounds. The zero value is all pairs in as few rounds as they
// need.
type Pairs struct {
	// Rounds bounds the number of rounds of disjoint pairs per repetition. With
	// fewer than all, a random part of the pairs is measured, another in each
	// repetition. Default 0: all.
	Rounds int

	// Halving puts the pairs of a group into rounds as Bufe 2014, section 2.3.2, does: one half meets the other, then each
	// half is a group of its own. 10 ranks take 11 rounds; powers of two take as many as by the circle method.
	// That is the default (Lucas 1883). It takes the fewest rounds, n-1 for an even number of ranks and n for an odd one. Groups
	// that are joined meet part by part where that is shorter.
	Halving bool

	// Groups are known groups of ranks. Those of the finest level are measured
	// first, all of them at once and each at its own pace. Then those of the next
	// one join what they hold, and so on up to all ranks. So traffic between groups does
	// not disturb the one inside. Default: none.
	Groups *topology.Hierarchy

	// WithinGroups leaves out the pairs that no group of Groups joins.
	WithinGroups bool

	// Sequential measures one pair at a time in each group, as LGate does.
	// By default a group measures as many as are disjoint.
	Sequential bool

	// Chosen measures, instead of all pairs, those of these rounds, in this order.
	// The pairs of a round must be disjoint. Default: all pairs.
	Chosen [][][2]int
}

// OneByOne makes each pair a round of its own, with nothing else under way. Long messages want it: those of pairs
// that are measured at once share links.
func OneByOne(pairs [][2]int) Pairs {
	var p Pairs
	for _, pair := range pairs {
		p.Chosen = append(p.Chosen, [][2]int{pair})
	}
	return p
}

// Validate says why so many ranks have no such pairs, or nil. It names the field of Settings.
func (p *Pairs) Validate(ranks int) error {
	switch {
	case p.Rounds < 0:
		return fmt.Errorf("Settings.Rounds: %d: want at least 0", p.Rounds)
	case len(p.Chosen) > 0 && (p.Rounds > 0 || p.Groups != nil):
		return fmt.Errorf("Settings.Chosen: %d rounds with Rounds or Groups: want one of the three", len(p.Chosen))
	case p.Groups != nil && p.Groups.Hosts() != ranks:
		return fmt.Errorf("Settings.Groups: hierarchy of %d hosts for %d ranks", p.Groups.Hosts(), ranks)
	case p.WithinGroups && p.Groups == nil:
		return fmt.Errorf("Settings.WithinGroups: true without Groups")
	}
	return checkRounds("Settings.Chosen", p.Chosen, ranks)
}

// Fingerprint tells pairs and rounds apart; "" is all pairs in as few rounds as they need.
func (p *Pairs) Fingerprint() string {
	if p.Rounds == 0 && p.Groups == nil && len(p.Chosen) == 0 && !p.Halving && !p.Sequential {
		return ""
	}
	sum := fnv.New64a() // which never fails
	fmt.Fprint(sum, p.Rounds, p.Halving, p.WithinGroups, p.Sequential, p.Chosen, p.groups())
	return fmt.Sprintf("%016x", sum.Sum64())
}

// Control is what the settings of every measurement have in common: when it ends, and what is heard of it meanwhile.
type Control struct {
	// Budget bounds the time to measure, by the clock of the communicator. What is under way is finished. Default 0: no
	// bound.
	Budget time.Duration

	// Silence is how long, by the wall clock, a rank waits for another one. Then it ends the job with a SilentError
	// instead of waiting for good, where the communicator is an mpi.Failer. Two ranks that are measured may take this
	// time. Ranks wait twice as long and more before a round, which includes the time that other pairs take. Default 5
	// minutes; negative: never.
	Silence time.Duration

	// Notify is called on rank 0 with what is decided while it measures, each one sentence.
	Notify func(note string) `json:"-"`

	// Progress is called on rank 0 before the first step and after each one. Time spent in it is lost to all ranks, but
	// enters no measured time.
	Progress func(Progress) `json:"-"`
}

// Steps returns what tells Progress how many units are done, of how many. It does nothing where nobody listens.
func (c *Control) Steps(units string) func(done, of int) {
	if c.Progress == nil {
		return func(int, int) {}
	}
	began := time.Now()
	return func(done, of int) {
		p := Progress{Units: units, Done: done, Total: of, Elapsed: time.Since(began)}
		p.estimate(done, 0)
		c.Progress(p)
	}
}

// Settings of AllPairs. Nil and the zero value mean all defaults. Those of rank 0
// count; other ranks may pass nil.
type Settings struct {
	Pairs
	Control

	// Repetitions is the number of times that every pair is measured, each
	// time in another round. Default 1, at most MaxRepetitions.
	Repetitions int

	// Samples is the task of each pair: the number of samples that Exchange takes, or fewer where the budget turns out
	// to be too small. Default 0: it has none.
	Samples int

	// Seed is that of the relabellings and shuffles.
	Seed uint64

	// Done is the number of rounds that an earlier run with the same settings has
	// measured: this one goes on behind them. Rounds of what Again asked for count if
	// they were all. Default 0.
	Done int

	// Deliver is called on rank 0 with what all ranks have found since the last
	// time, in no order. That is between rounds, some twice a second, and at the end. It
	// may keep the rows. What is timed does not wait for it, the ranks do.
	Deliver func(rows []Row, p Progress)

	// Again is called on rank 0 when so many repetitions are done and delivered. It may
	// want another one, of the rounds that it returns, or of all if it returns none. That one
	// follows if the budget has room for it. Default: none does.
	Again func(repetitions int) (rounds [][][2]int, more bool)
}

// Remaining begins a budget, by the clock of the communicator. It returns what tells how much is left for the next of so many
// parts, which share the rest evenly. A budget that is used up leaves 1 ns, with which a measurement stops at its start. A
// budget of 0, no bound, leaves 0.
func (c *Conductor) Remaining(budget time.Duration) func(parts int) time.Duration {
	start := c.Now()
	return func(parts int) time.Duration {
		if budget <= 0 {
			return budget
		}
		left := budget - time.Duration((c.Now()-start)*float64(time.Second))
		return max(left/time.Duration(parts), 1)
	}
}

// Progress is how far a measurement has come.
type Progress struct {
	Part  string // what is measured, where a measurement has several parts; else ""
	Units string // what is counted: rounds of all repetitions, steps, patterns

	Done, Total       int           // units
	Pairs, TotalPairs int           // exchanged, as far as rank 0 has heard of them, and in all, of all repetitions
	Elapsed           time.Duration // since the first round, for whoever waits: in a simulation, too
	Remaining         time.Duration // estimate; 0 before the first round is done
	Rate              float64       // pairs per second of this run, by the wall clock; 0 at the start
}

// estimate guesses how long the rest takes, of which so many units and pairs were done in the time that has elapsed.
func (p *Progress) estimate(done, pairs int) {
	if p.Elapsed <= 0 {
		return
	}
	p.Rate = float64(pairs) / p.Elapsed.Seconds()
	if done > 0 {
		p.Remaining = time.Duration(float64(p.Elapsed) / float64(done) * float64(p.Total-p.Done))
	}
}

// MaxRepetitions bounds Settings.Repetitions: more are a slip of the pen.
const MaxRepetitions = 1000

const defaultSilence = 5 * time.Minute

// validate fills in defaults.
func (s *Settings) validate(ranks int) error {
	err := limits.Fill("Settings",
		limits.Of("Repetitions", &s.Repetitions, 1, 1, MaxRepetitions),
		limits.Of("Samples", &s.Samples, 0, 0, WarmUp-1),
		limits.Of("Done", &s.Done, 0, 0, math.MaxInt))
	if err != nil {
		return err
	}
	return s.Pairs.Validate(ranks)
}

// checkRounds refuses rounds that cannot be.
func checkRounds(name string, rounds [][][2]int, ranks int) error {
	last := make([]int, ranks) // by rank: the last round of it, from 1
	for i, round := range rounds {
		for _, p := range round {
			if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= ranks {
				return fmt.Errorf("%s: round %d: %d and %d: want two different ranks in [0, %d)", name, i, p[0], p[1], ranks)
			}
			for _, rank := range p {
				if last[rank] == i+1 {
					return fmt.Errorf("%s: round %d: rank %d is in two pairs", name, i, rank)
				}
				last[rank] = i + 1
			}
		}
	}
	return nil
}
