package servet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A simulated machine is hosts of so many cores of which each so many consecutive ones share what it
// says. It is the truth of the tests.
type simulatedMachine struct {
	caches []simulatedCache // near to far
	memory int              // cores that share a path
	path   float64          // B/s, of a path
	core   float64          // B/s, that a core can use
	far    float64          // s, of an access to memory
	noise  float64          // relative, always slower; one measurement in fifty is twice as slow
}

type simulatedCache struct {
	bytes int
	cores int     // that share it
	time  float64 // s, of an access
}

// hector is a node like those of HECToR (Servet 3.0, section 5 and figure 2) with a quarter of the cores: two processors, of which each
// has an L3 and a path to memory, L2 for half of its cores, and L1 for each.
// Here a core can use up three quarters of a path.
func hector() simulatedMachine {
	return simulatedMachine{
		caches: []simulatedCache{{32 << 10, 1, 2e-9}, {2 << 20, 2, 8e-9}, {8 << 20, 4, 25e-9}},
		memory: 4, path: 20e9, core: 15e9, far: 100e-9,
	}
}

// simulatedCore is the worker of one rank of a host whose ranks are consecutive.
type simulatedCore struct {
	simulatedMachine
	walks         bool
	rank, perHost int
	rng           *rand.Rand
}

func (c *simulatedCore) warmUp(stress) error { return nil }
func (c *simulatedCore) close() error        { return nil }

// active are the ranks of the host that are at work with this one, itself among them.
func (c *simulatedCore) active(s stress) []int {
	host := c.rank / c.perHost * c.perHost
	var all []int
	for rank := host; rank < host+c.perHost; rank++ {
		if rank == c.rank || rank == s.peer || s.part == partTogether {
			all = append(all, rank)
		}
	}
	return all
}

// sharers are the active ranks that share a part of so many cores with this one, itself among them.
func (c *simulatedCore) sharers(s stress, cores int) int {
	n := 0
	for _, rank := range c.active(s) {
		if rank/c.perHost == c.rank/c.perHost && rank%c.perHost/cores == c.rank%c.perHost/cores {
			n++
		}
	}
	return n
}

func (c *simulatedCore) measure(s stress) (float64, error) {
	slower := 1.0
	if c.noise > 0 {
		slower += c.noise * c.rng.Float64()
		if c.rng.IntN(50) == 0 {
			slower *= 2
		}
	}
	if !c.walks {
		return min(c.core, c.path/float64(c.sharers(s, c.memory))) / slower, nil
	}
	// A cache of which all lines are equally likely to be thrown out holds a share of them.
	t, reach := 0.0, 1.0
	for _, level := range c.caches {
		hit := min(1, float64(level.bytes)/float64(s.bytes*c.sharers(s, level.cores)))
		t += reach * hit * level.time
		reach *= 1 - hit
	}
	return (t + reach*c.far) * slower, nil
}

// onMachine runs work on simulated ranks, each host of the given machine.
func onMachine(t *testing.T, m simulatedMachine, hosts, perHost int, s *InsideSettings, work func(mpi.Communicator, *InsideSettings) error) {
	t.Helper()
	cluster, err := gen.Parse(fmt.Sprintf("core:%d host:%d", perHost, hosts))
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Node: cluster.Node}, func(c mpi.Communicator) error {
		own := InsideSettings{}
		if c.Rank() == 0 {
			own = *s
		}
		own.worker = func(rank int, walks bool) worker {
			return &simulatedCore{m, walks, rank, perHost, rand.New(rand.NewPCG(uint64(rank), 7))}
		}
		return work(c, &own)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// repetitions are the default ones where there is noise.
func repetitions(m simulatedMachine) int {
	if m.noise > 0 {
		return 0
	}
	return 1
}

// consecutive are groups of so many of the ranks of hosts of perHost.
func consecutive(hosts, perHost, size int) (groups [][]int) {
	for first := 0; first < hosts*perHost; first += size {
		if size == 1 {
			break
		}
		var g []int
		for i := range size {
			g = append(g, first+i)
		}
		groups = append(groups, g)
	}
	return groups
}

func TestCachesOfSimulatedMachines(t *testing.T) {
	noisy := hector()
	noisy.noise = 0.1
	odd := hector() // sizes that are no powers of two
	odd.caches = []simulatedCache{{48 << 10, 1, 2e-9}, {1280 << 10, 1, 6e-9}, {13 << 20, 4, 30e-9}}
	slight := hector() // memory that is hardly slower than the last cache: 35 to 25 ns for a set of twice its size
	slight.far = 45e-9
	threads := hector()
	threads.caches[0].cores = 2
	for _, c := range []struct {
		name           string
		machine        simulatedMachine
		hosts, perHost int
	}{
		{"as HECToR", hector(), 1, 8},
		{"noisy", noisy, 1, 8},
		{"odd sizes", odd, 2, 4},
		{"slight differences", slight, 1, 8},
		{"two threads per core", threads, 1, 8},
		{"one rank per host", hector(), 3, 1},
		{"two ranks per host", hector(), 2, 2},
	} {
		onMachine(t, c.machine, c.hosts, c.perHost, &InsideSettings{Bytes: 64 << 20, Repetitions: repetitions(c.machine)}, func(comm mpi.Communicator, s *InsideSettings) error {
			r, err := Caches(context.Background(), comm, s)
			if r == nil {
				return err
			}
			if len(r.Resources) != len(c.machine.caches) || r.Stopped != "" || len(r.Warnings) > 0 {
				t.Fatalf("%s: resources %v, stopped by %q, warnings %q", c.name, r.Resources, r.Stopped, r.Warnings)
			}
			for i, truth := range c.machine.caches {
				got := r.Resources[i]
				if want := consecutive(c.hosts, c.perHost, min(truth.cores, c.perHost)); fmt.Sprint(got.Groups) != fmt.Sprint(want) || got.Kind != topology.KindCache || got.FromSystem {
					t.Errorf("%s: cache %d: %v %v, want groups %v", c.name, i, got, got.Groups, want)
				}
				// The sizes of the ladder are a half and a third apart.
				if size := float64(got.Bytes) / float64(truth.bytes); size < 0.6 || size > 1.6 {
					t.Errorf("%s: cache %d has %d B, is measured as %d", c.name, i, truth.bytes, got.Bytes)
				}
			}
			return err
		})
	}
}

// Core 1 has no cache of the size that core 0 has: what noise makes of its times, 5 % where twice the set costs 1 %, is no sharing.
func TestCoresWithoutTheCacheShareNone(t *testing.T) {
	r := InsideResult{Kind: KindCache, Bytes: 64 << 10, hosts: [][]int{{0, 1}}, values: make(values)}
	for i, size := range setSizes(r.Bytes) {
		r.values[stress{partCurve, size, 0, 0}] = []float64{1, 1, 2, 3, 3}[i : i+1]
	}
	const set = 24 << 10 // 1 alone, 3 twice as large
	for k, v := range map[stress]float64{
		{partAlone, set, 0, 0}: 1, {partAlone, 2 * set, 0, 0}: 3, {partPair, set, 0, 1}: 1,
		{partAlone, set, 1, 1}: 1, {partAlone, 2 * set, 1, 1}: 1.01, {partPair, set, 1, 0}: 1.05,
	} {
		r.values[k] = []float64{v}
	}
	if warnings := r.conclude(); len(warnings) > 0 || len(r.Resources) != 1 || len(r.Resources[0].Groups) > 0 {
		t.Errorf("resources %v with warnings %q, want a cache that no two share", r.Resources, warnings)
	}
}

// What two hosts show at neighbouring sizes is one cache, what is an octave away another.
func TestAlikeCachesOfHosts(t *testing.T) {
	found := []riseOf{{48, 64}, {6, 8}, {4, 6}, {96, 128}, {6, 6}}
	if got, want := fmt.Sprint(alike(found)), "[{6 6} {48 64} {96 128}]"; got != want {
		t.Errorf("alike = %s, want %s", got, want)
	}
}

func TestMemoryOfSimulatedMachines(t *testing.T) {
	noisy, wide, flat := hector(), hector(), hector()
	noisy.noise = 0.1
	wide.path = 26e9 // two cores lose an eighth of what they have alone, four more than a half
	flat.path = 1e12 // HECToR as Servet saw it: no overhead of memory at all
	for _, c := range []struct {
		name           string
		machine        simulatedMachine
		hosts, perHost int
		groups         [][]int
		bandwidth      float64 // NaN if there is none to tell
		resources      int
		warning        string
	}{
		{"as HECToR", hector(), 1, 8, consecutive(1, 8, 4), 20e9, 1, ""},
		{"two hosts", hector(), 2, 4, consecutive(2, 4, 4), 20e9, 1, ""},
		{"noisy", noisy, 1, 8, consecutive(1, 8, 4), 20e9, 1, ""},
		{"wide paths", wide, 1, 8, nil, math.NaN(), 0, "is not told by pairs"},
		{"no limit", flat, 1, 8, nil, math.NaN(), 1, ""},
		{"one rank per host", hector(), 3, 1, nil, math.NaN(), 0, ""},
	} {
		onMachine(t, c.machine, c.hosts, c.perHost, &InsideSettings{Bytes: 1 << 20, Repetitions: repetitions(c.machine)}, func(comm mpi.Communicator, s *InsideSettings) error {
			r, err := Memory(context.Background(), comm, s)
			if r == nil {
				return err
			}
			if text := strings.Join(r.Warnings, "\n"); len(r.Resources) != c.resources || r.Stopped != "" || !strings.Contains(text, c.warning) || c.warning == "" && text != "" {
				t.Fatalf("%s: resources %v, stopped by %q, warnings %q", c.name, r.Resources, r.Stopped, r.Warnings)
			}
			for _, got := range r.Resources {
				if fmt.Sprint(got.Groups) != fmt.Sprint(c.groups) || got.Kind != topology.KindNUMA {
					t.Errorf("%s: %v %v, want groups %v", c.name, got, got.Groups, c.groups)
				}
				if math.Abs(got.Bandwidth-c.bandwidth) > 0.15*c.bandwidth || math.IsNaN(got.Bandwidth) != math.IsNaN(c.bandwidth) {
					t.Errorf("%s: %g B/s, want %g", c.name, got.Bandwidth, c.bandwidth)
				}
			}
			for rank, b := range r.Alone {
				if math.Abs(b-c.machine.core) > 0.15*c.machine.core {
					t.Errorf("%s: rank %d alone %g B/s, want %g", c.name, rank, b, c.machine.core)
				}
			}
			return err
		})
	}
}

// A loggedCore notes what it does in a log of the whole host.
type loggedCore struct {
	simulatedCore
	mu  *sync.Mutex
	log *[]string
}

func (c *loggedCore) note(what string, s stress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.log = append(*c.log, fmt.Sprint(what, " ", s.part, c.active(s)))
}

func (c *loggedCore) warmUp(s stress) error {
	c.note("warm", s)
	return nil
}

func (c *loggedCore) measure(s stress) (float64, error) {
	c.note("measure", s)
	return c.simulatedCore.measure(s)
}

// Nobody warms up while others measure: all of a step do the one, and then all the other, and then comes the next.
func TestStepsInsideHostsDoNotOverlap(t *testing.T) {
	var mu sync.Mutex
	var log []string
	const ranks = 6
	for range 20 { // real goroutines, in whatever order they come
		err := local.Run(ranks, &local.Settings{Mode: local.Buffered}, func(c mpi.Communicator) error {
			s := &InsideSettings{Bytes: 1 << 20, Repetitions: 1, worker: func(rank int, walks bool) worker {
				return &loggedCore{simulatedCore{hector(), walks, rank, ranks, nil}, &mu, &log}
			}}
			_, err := Memory(context.Background(), c, s)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	at := 0
	for range 20 {
		var steps []string
		var active []int
		add := func(part int, ranks ...int) {
			steps, active = append(steps, fmt.Sprint(part, ranks)), append(active, len(ranks))
		}
		for rank := range ranks {
			add(partAlone, rank)
		}
		for _, p := range pairsOf([]int{0, 1, 2, 3, 4, 5}) {
			add(partPair, p[:]...)
		}
		add(partTogether, 0, 1, 2, 3, 4, 5)
		for k, step := range steps {
			for _, what := range []string{"warm", "measure"} {
				for range active[k] {
					if want := fmt.Sprint(what, " ", step); at >= len(log) || log[at] != want {
						t.Fatalf("event %d is %q, want %q", at, log[min(at, len(log)-1)], want)
					}
					at++
				}
			}
		}
	}
}

// What was not measured for want of time is no group, and is said.
func TestBudgetInsideHosts(t *testing.T) {
	for _, c := range []struct {
		budget time.Duration
		whole  bool
	}{{time.Nanosecond, false}, {time.Hour, true}} {
		onMachine(t, hector(), 1, 8, &InsideSettings{Bytes: 64 << 20, Control: harness.Control{Budget: c.budget}}, func(comm mpi.Communicator, s *InsideSettings) error {
			memory, err := Memory(context.Background(), comm, s)
			if err != nil {
				return err
			}
			caches, err := Caches(context.Background(), comm, s)
			if memory == nil || err != nil {
				return err
			}
			if c.whole != (memory.Stopped == "") || c.whole != (caches.Stopped == "") || c.whole != (len(memory.Resources) == 1) || c.whole != (len(caches.Resources) == 3) ||
				c.whole != (len(memory.Warnings) == 0) || c.whole != (len(caches.Warnings) == 0) {
				t.Errorf("budget %v: memory %+v, caches %+v", c.budget, memory, caches)
			}
			if !c.whole && (!strings.Contains(memory.Warnings[0], "28 of 28 pairs") || caches.Warnings[0] != "caches: stopped by the budget before pairs of ranks were measured") {
				t.Errorf("budget %v: warnings %q and %q, want what was not measured first", c.budget, memory.Warnings, caches.Warnings)
			}
			return nil
		})
	}
	// Caches that one rank alone has shown, and of which no pair was measured, are none to tell of.
	onMachine(t, hector(), 1, 4, &InsideSettings{Bytes: 64 << 20, Repetitions: 1}, func(comm mpi.Communicator, s *InsideSettings) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s.Progress = func(p harness.Progress) {
			done, of := p.Done, p.Total
			if done == of {
				cancel()
			}
		}
		r, err := Caches(ctx, comm, s)
		if r != nil && (len(r.Resources) > 0 || len(r.curves()) == 0 || r.Stopped != harness.StoppedByContext) {
			t.Errorf("resources %v of %d caches, stopped by %q", r.Resources, len(r.curves()), r.Stopped)
		}
		return err
	})
	// The budget ends between pairs: groups are those that were seen.
	onMachine(t, hector(), 1, 8, &InsideSettings{Bytes: 1 << 20, Repetitions: 1}, func(comm mpi.Communicator, s *InsideSettings) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s.Progress = func(p harness.Progress) {
			done, of := p.Done, p.Total
			if done == 8+7 { // alone, and each with the next
				cancel()
			}
			if of != 8+28+1 {
				t.Errorf("%d steps, want 37", of)
			}
		}
		r, err := Memory(ctx, comm, s)
		if r == nil {
			return err
		}
		if got := fmt.Sprint(r.Resources[0].Groups, " ", r.Stopped); got != "[[0 1 2 3] [4 5 6 7]] context" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "21 of 28 pairs") {
			t.Errorf("groups and reason %s, warnings %q", got, r.Warnings)
		}
		return err
	})
}

// The whole way: a machine whose levels nobody has named is measured inside, and Servet's rules 1 and 2 fire on
// its network. By hand, of a memory-bound code on two hosts: core 0 makes core 1, of its L2, heavier by 30, and 2 and 3,
// of its L3, by 20, so that the other processor, 4, is next; then the other host's two; of
// those that are left, 2 shares less with the one that its processor has than 1 does.
func TestRulesFireOnAMeasuredNetwork(t *testing.T) {
	const hosts, perHost = 2, 8
	var resources []model.Resource
	onMachine(t, hector(), hosts, perHost, &InsideSettings{Bytes: 32 << 20, Repetitions: 1}, func(comm mpi.Communicator, s *InsideSettings) error {
		memory, err := Memory(context.Background(), comm, s)
		if err != nil {
			return err
		}
		caches, err := Caches(context.Background(), comm, s)
		if err != nil || comm.Rank() != 0 {
			return err
		}
		resources, _ = Resources(memory, caches, nil)
		return nil
	})
	n := discovered(t, "core:4 socket:2 host:2", resources)
	levels := n.Hierarchy().Levels()
	if got := []topology.Kind{levels[0].Kind, levels[1].Kind}; !slices.Equal(got, []topology.Kind{topology.KindNUMA, topology.KindHost}) {
		t.Errorf("levels are of kinds %v, want numa and host: four cores share L3 and memory", got)
	}
	// 0, 4, 8, 12 and then 2, in the order of the machine.
	if got := firstPlaces(t, n, 5); got != "[0 2 4 8 12]" {
		t.Errorf("places %s, want [0 2 4 8 12]", got)
	}
	if got := firstPlaces(t, discovered(t, "core:4 socket:2 host:2", nil), 5); got == "[0 2 4 8 12]" {
		t.Errorf("places %s without what was measured inside: the rules fire on nothing", got)
	}
}

// A failingCore cannot do its part of the k-th step that it is active in.
type failingCore struct {
	simulatedCore
	warm bool // it fails warming up, else measuring
	k    int
}

func (c *failingCore) part(warm bool) error {
	if c.warm != warm {
		return nil
	}
	if c.k--; c.k >= 0 {
		return nil
	}
	return errors.New("out of memory")
}

func (c *failingCore) warmUp(stress) error { return c.part(true) }

func (c *failingCore) measure(s stress) (float64, error) {
	if err := c.part(false); err != nil {
		return 0, err
	}
	return c.simulatedCore.measure(s)
}

// Whichever rank fails alone, and wherever, all of them return its error: none waits for it.
func TestARankFailsAloneInsideAHost(t *testing.T) {
	const ranks = 4
	for _, who := range []int{0, 2} {
		for _, warm := range []bool{true, false} {
			for _, k := range []int{0, ranks} { // ranks: in the last step of Memory
				err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
					s := &InsideSettings{Bytes: 1 << 20, Repetitions: 1, worker: func(rank int, walks bool) worker {
						own := &failingCore{simulatedCore{hector(), walks, rank, ranks, nil}, warm, k}
						if rank != who {
							own.k = math.MaxInt
						}
						return own
					}}
					want := fmt.Sprintf("servet: rank %d: out of memory", who)
					if _, err := Memory(context.Background(), comm, s); err == nil || err.Error() != want {
						t.Errorf("rank %d fails warming up (%v) or measuring in step %d of its own: rank %d: %v, want %s", who, warm, k, comm.Rank(), err, want)
					}
					return nil
				})
				if err != nil {
					t.Errorf("rank %d fails in step %d of its own: %v", who, k, err)
				}
			}
		}
	}
}
