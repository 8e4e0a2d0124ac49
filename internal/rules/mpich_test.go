package rules

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mpichTable is a table as MPICH 4.0 has it, of fewer collectives.
const mpichTable = `{"collective=bcast":{"comm_type=intra":{` +
	`"comm_size<8":{"comm_hierarchy=parent":{"avg_msg_size<=0":{"algorithm=MPIR_Bcast_intra_smp":{}},"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}},"comm_hierarchy=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}},` +
	`"comm_size=pow2":{"avg_msg_size<=12288":{"algorithm=MPIR_Bcast_intra_binomial":{}},"avg_msg_size<524288":{"algorithm=MPIR_Bcast_intra_scatter_recursive_doubling_allgather":{}},"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}},` +
	`"comm_size=any":{"avg_msg_size<=12288":{"algorithm=MPIR_Bcast_intra_binomial":{}},"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}}},` +
	`"comm_type=inter":{"algorithm=MPIR_Bcast_inter_remote_send_local_bcast":{}}},"collective=barrier":{"comm_type=intra":{"algorithm=MPIR_Barrier_intra_dissemination":{}}}}`

// mpichLibrary holds it as a library does, after those of compositions and of other things.
var mpichLibrary = []byte("\x7fELF\x00{\"collective=\x00{\"collective=bcast\":{\"composition=MPIDI_x\":{}}}\x00" + mpichTable + "\x00more\x00")

// A conditions is an object of a table in JSON, its members in their order.
type conditions struct {
	key   string
	below []conditions
}

func parseConditions(t *testing.T, text []byte) []conditions {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	token := func() json.Token {
		x, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var object func() []conditions
	object = func() (members []conditions) {
		for token(); d.More(); {
			key := token().(string)
			members = append(members, conditions{key, object()})
		}
		token()
		return members
	}
	return object()
}

// An mpichCall is what MPICH looks at when it chooses the algorithm of a broadcast.
type mpichCall struct {
	ranks int
	kind  string // of the communicator; MPICH 5 knows "parent" and ""
	bytes int64
}

// belowSizes tells whether a condition on the communicator stands below a condition on sizes, where MPICH would take
// comm_size<8 for comm_size<=8.
func belowSizes(table []conditions, below bool) bool {
	return slices.ContainsFunc(table, func(x conditions) bool {
		return below && strings.HasPrefix(x.key, "comm_") || belowSizes(x.below, below || strings.HasPrefix(x.key, "avg_msg_size"))
	})
}

// chosen follows a table as MPICH does: the first member whose condition holds.
func (c mpichCall) chosen(table []conditions) string {
	for _, x := range table {
		if name, is := strings.CutPrefix(x.key, "algorithm="); is {
			return name
		}
		if c.holds(x.key) {
			return c.chosen(x.below)
		}
	}
	return ""
}

func (c mpichCall) holds(key string) bool {
	compare := func(name string, x int64) (bool, bool) {
		if n, err := strconv.ParseInt(strings.TrimPrefix(key, name+"<="), 10, 64); err == nil {
			return x <= n, true
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(key, name+"<"), 10, 64)
		return x < n, err == nil
	}
	if holds, is := compare("comm_size", int64(c.ranks)); is {
		return holds
	}
	if holds, is := compare("avg_msg_size", c.bytes); is {
		return holds
	}
	switch key {
	case "comm_hierarchy=parent", "comm_hierarchy=node_roots", "comm_hierarchy=node", "comm_hierarchy=flat":
		return key == "comm_hierarchy="+c.kind || c.kind == "" && key != "comm_hierarchy=parent"
	case "comm_size=pow2":
		return c.ranks&(c.ranks-1) == 0
	case "collective=bcast", "comm_type=intra", "comm_size=any", "comm_hierarchy=any", "avg_msg_size=any":
		return true
	}
	return false
}

// TestMPICHTableSteersOnlyWhatWasMeasured: the written table, followed as MPICH follows it, has what was chosen for
// the job's communicators, and the library's choice for all others, at the borders of all sizes.
func TestMPICHTableSteersOnlyWhatWasMeasured(t *testing.T) {
	names := []string{"binomial", "scatter_ring_allgather", "scatter_recursive_doubling_allgather", "smp", "nb", "auto"}
	all := []int64{8, 1 << 10, 1 << 16, 1 << 20, 1 << 32}
	rng := rand.New(rand.NewPCG(3, 1))
	own := parseConditions(t, []byte(mpichTable))
	for _, job := range []struct {
		version      string
		ranks, hosts int
		kinds        []string
		steered      []communicator
	}{
		{"4.0.2", 12, 12, fourKinds, []communicator{{12, "parent"}, {12, "flat"}}},
		{"3.4.1", 16, 16, fourKinds, []communicator{{16, "parent"}, {16, "flat"}}},
		{"4.0.2", 12, 3, fourKinds, []communicator{{12, "parent"}, {12, "flat"}, {3, "node_roots"}, {4, "node"}}},
		{"4.2.1", 16, 4, fourKinds, []communicator{{16, "parent"}, {16, "flat"}, {4, "node_roots"}, {4, "node"}}},
		{"4.2.1", 8, 1, fourKinds, []communicator{{8, "parent"}, {8, "flat"}, {8, "node"}}},
		{"4.2.1", 2, 2, fourKinds, []communicator{{2, "parent"}, {2, "flat"}}},
		{"5.0.2", 12, 3, []string{"parent", ""}, []communicator{{12, "parent"}, {12, ""}}},
		{"5.0.2", 2, 1, []string{"parent", ""}, []communicator{{2, "parent"}, {2, ""}}},
	} {
		for round := range 8 {
			sizes := all[:len(all)-round%2] // with and without one that is longer than a table knows
			winners := make(map[int64]string)
			for _, size := range sizes {
				winners[size] = names[rng.IntN(len(names))]
			}
			var reports []Report
			for _, name := range names {
				us := make(map[int64]float64)
				for _, size := range sizes {
					if us[size] = 100; winners[size] == name && name != "auto" {
						us[size] = 1
					}
				}
				r := reported("MPICH Version: "+job.version, map[string]string{mpichForced: name}, us)
				r.Ranks, r.Hosts, r.PerHost = job.ranks, job.hosts, []int{job.ranks / job.hosts}
				reports = append(reports, r)
			}
			rules := best(t, reports)
			var out bytes.Buffer
			if err := rules.WriteMPICH(&out, mpichLibrary); err != nil {
				t.Fatal(err)
			}
			if out.Len()%4096 == 0 {
				t.Error("the file ends with a page")
			}
			ours := parseConditions(t, out.Bytes())
			if belowSizes(ours, false) {
				t.Errorf("a condition on the communicator is below one on sizes in\n%s", &out)
			}
			for ranks := 1; ranks <= 20; ranks++ {
				for _, kind := range job.kinds {
					for _, size := range []int64{0, 1, 8, 9, 1024, 1025, 12288, 12289, 1 << 16, 1<<16 + 1, 524287, 524288, 1 << 20, 1<<20 + 1, 1<<31 - 1} {
						call := mpichCall{ranks, kind, size}
						want := call.chosen(own)
						name := winners[sizes[len(sizes)-1]] // holds for all that are longer
						for i := len(sizes) - 1; i >= 0 && sizes[i] >= size; i-- {
							if name = winners[sizes[i]]; size <= sizes[i]/2 && (i == 0 || winners[sizes[i-1]] != name) {
								name = "auto" // too far from what was measured
							}
						}
						if slices.Contains(job.steered, communicator{ranks, kind}) {
							switch {
							case name == "nb":
								want = "MPIR_Bcast_allcomm_nb"
							case name == "auto", name == "smp" && kind != "parent", name == names[2] && ranks&(ranks-1) != 0:
							default:
								want = "MPIR_Bcast_intra_" + name
							}
						}
						if got := call.chosen(ours); got != want {
							t.Fatalf("job %+v, fastest %v: %+v: %s, want %s in\n%s", job, winners, call, got, want, &out)
						}
					}
				}
			}
			if !bytes.Contains(out.Bytes(), []byte(`"collective=barrier":{"comm_type=intra":{"algorithm=MPIR_Barrier_intra_dissemination":{}}}}`)) {
				t.Errorf("barriers are gone from\n%s", &out)
			}
		}
	}
}

// fourKinds are the kinds of communicators that the tables of MPICH 3.4 and 4 tell apart.
var fourKinds = []string{"parent", "node_roots", "node", "flat"}

func TestWriteMPICHRefuses(t *testing.T) {
	rules := best(t, []Report{reported("MPICH Version: 4.0.2", nil, map[int64]float64{8: 1})})
	for _, c := range []struct{ library, want string }{
		{"", "not found"},
		{`{"collective=bcast":{"composition=x":{}}}`, "not found"},
		{`{"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}}}`, "has no broadcast"},
		{`{"collective=bcast":{"comm_type=intra":{"phase=full":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`, `"phase=full" is not known`},
		{`{"collective=bcast":{"comm_type=intra":{"comm_size<8":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`, "nothing for messages"},
		{`{"collective=bcast":{"é":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`, "not found"}, // no key of MPICH's
		{`{"collective=bcast":{"comm_type=intra~":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`, "has no broadcast"},
		{strings.Repeat(`{"collective=bcast":`, 50), "not found"},
	} {
		if err := rules.WriteMPICH(&bytes.Buffer{}, []byte(c.library)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("WriteMPICH with %.60s = %v, want an error of %q", c.library, err, c.want)
		}
	}
	for _, library := range []string{"", classicVersion, "MPICH"} {
		rules := best(t, []Report{reported(library, nil, map[int64]float64{8: 1})})
		if err := rules.WriteMPICH(&bytes.Buffer{}, mpichLibrary); err == nil || !strings.Contains(err.Error(), "want those of MPICH, with its version") {
			t.Errorf("WriteMPICH for %q = %v, want an error", library, err)
		}
	}
}
