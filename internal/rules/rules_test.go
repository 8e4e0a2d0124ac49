package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// forcedRun is a report of times in us with intervals of 10 % around them, from root 0.
func forcedRun(library string, environment map[string]string, us map[int64]float64) NativeRun {
	r := NativeRun{Job: Job{12, library, "p"}, Hosts: 12, PerHost: []int{1}, Environment: environment}
	for bytes, t := range us {
		r.Times = append(r.Times, NativeTime{bytes, t * 1e-6, t * 0.9e-6, t * 1.1e-6})
	}
	return r
}

const openMPI = "Open MPI v4.1.4"

func tunedBy(algorithm string, more ...string) map[string]string {
	e := map[string]string{openMPIUse: "1", openMPIForced: algorithm}
	for i := 0; i < len(more); i += 2 {
		e[openMPIForced+more[i]] = more[i+1]
	}
	return e
}

func TestBestNativeForOpenMPI(t *testing.T) {
	other := map[string]string{"OMPI_MCA_coll_base_verbose": "0"}
	with := func(e map[string]string) map[string]string {
		maps.Copy(e, other)
		return e
	}
	rules, err := BestNative([]NativeRun{
		forcedRun(openMPI, with(tunedBy("1")), map[int64]float64{8: 50, 1 << 10: 99, 1 << 16: 9000, 1 << 20: 1e5}),
		forcedRun(openMPI, with(tunedBy("pipeline", "_segmentsize", "8192")), map[int64]float64{8: 90, 1 << 10: 200, 1 << 16: 700, 1 << 20: 1000}),
		forcedRun(openMPI, other, map[int64]float64{8: 100, 1 << 10: 100, 1 << 16: 2000, 1 << 20: 9000}),
		forcedRun(openMPI, with(tunedBy("2", "_segmentsize", "4096", "_chain_fanout", "1")), map[int64]float64{1 << 16: 800, 1 << 20: 900}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var text, file bytes.Buffer
	if err := rules.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const wantText = `bytes    best of the library                 gain
8 B      basic_linear                        2
1 KiB    the library's choice                1
64 KiB   pipeline, segments of 8192 B        2.86
1 MiB    chain, segments of 4096 B, fanout 1  10
`
	if got := strings.Join(strings.Fields(text.String()), " "); got != strings.Join(strings.Fields(wantText), " ") {
		t.Errorf("text\n%s\nwant\n%s", &text, wantText)
	}
	if err := rules.WriteOpenMPI(&file); err != nil {
		t.Fatal(err)
	}
	// By hand, from the format of Open MPI 4.1.
	const want = `1 # collectives
7 # broadcast
2 # sizes of communicators
12 # ranks: "Open MPI v4.1.4"
6 # rules: from so many bytes on: algorithm, fanout, bytes of a segment
0 0 0 0 # the library's choice
5 1 4 0 # basic_linear
9 0 0 0 # the library's choice
32769 3 4 8192 # pipeline, segments of 8192 B
65537 0 0 0 # the library's choice
524289 2 1 4096 # chain, segments of 4096 B, fanout 1
13 # ranks and more
1 # rule
0 0 0 0 # the library's choice
`
	if file.String() != want {
		t.Errorf("rules\n%s\nwant\n%s", &file, want)
	}
	if err := rules.WriteMPICH(&file, nil); err == nil || !strings.Contains(err.Error(), "want MPICH's") {
		t.Errorf("WriteMPICH of Open MPI's times: %v", err)
	}
}

// TestBestNativeHoldsForEveryRoot: what is better from one root alone is not chosen.
func TestBestNativeHoldsForEveryRoot(t *testing.T) {
	from := func(root int, r NativeRun) NativeRun {
		r.Root = root
		return r
	}
	rules, err := BestNative([]NativeRun{
		forcedRun(openMPI, nil, map[int64]float64{8: 100, 16: 100}),
		from(3, forcedRun(openMPI, nil, map[int64]float64{8: 100, 16: 100})),
		forcedRun(openMPI, tunedBy("1"), map[int64]float64{8: 10, 16: 10}),
		from(3, forcedRun(openMPI, tunedBy("1"), map[int64]float64{8: 110, 16: 40})),
		forcedRun(openMPI, tunedBy("5"), map[int64]float64{8: 10, 16: 30}),
		from(3, forcedRun(openMPI, tunedBy("5"), map[int64]float64{16: 30})),
	})
	if err != nil {
		t.Fatal(err)
	}
	// 16 B: gains of 10 and 2.5 are 5 in the mean, those of 3.33 and 3.33 less.
	if got := fmt.Sprint(rules.rules[0].forced, "; ", rules.rules[1].forced); got != "the library's choice; basic_linear" {
		t.Errorf("rules %s", got)
	}
}

func TestBestNativeRefuses(t *testing.T) {
	own := forcedRun(openMPI, nil, map[int64]float64{8: 100})
	for _, c := range []struct {
		other NativeRun
		want  string
	}{
		{own, "8 bytes from root 0: reported before"},
		{forcedRun("Open MPI v5.0.5", tunedBy("1"), nil), "another job"},
		{forcedRun(openMPI, map[string]string{"OMPI_MCA_coll_han_priority": "50"}, nil), "differs from the first in OMPI_MCA_coll_han_priority"},
		{forcedRun(openMPI, map[string]string{openMPIForced: "1"}, nil), "has no effect without"},
		{forcedRun(openMPI, tunedBy("10"), nil), "not an algorithm"},
		{forcedRun(openMPI, tunedBy("quick"), nil), "not an algorithm"},
		{forcedRun(openMPI, tunedBy("1", "_segmentsize", "-1"), nil), "want a number"},
		{forcedRun(openMPI, tunedBy("7", "_knomial_radix", "2"), nil), "_knomial_radix, which no rules can hold"},
	} {
		if _, err := BestNative([]NativeRun{own, c.other}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("BestNative(%v) = %v, want an error of %q", c.other.Environment, err, c.want)
		}
	}
	if _, err := BestNative([]NativeRun{forcedRun(openMPI, tunedBy("1"), map[int64]float64{8: 1})}); err == nil || !strings.Contains(err.Error(), "the library's own choice") {
		t.Errorf("without the library's own choice: %v", err)
	}
	if _, err := BestNative(nil); err == nil {
		t.Error("of nothing")
	}
}

func TestIsLibrarySetting(t *testing.T) {
	for name, want := range map[string]bool{
		"OMPI_MCA_coll_tuned_bcast_algorithm": true, "OMPI_MCA_coll": false, "OMPI_MCA_btl": false, "MPIR_CVAR_BCAST_INTRA_ALGORITHM": true,
		"MPIR_PARAM_X": true, "MPICH_BCAST_MIN_PROCS": true, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME": false, "PATH": false,
	} {
		if got := IsLibrarySetting(name); got != want {
			t.Errorf("IsLibrarySetting(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestReadNativeRun(t *testing.T) {
	const head = `{"format":"topocast/bcast-benchmark","version":2,"ranks":4,"root":1,"library":"Open MPI v4.1.4","places":"x","hosts":2,"ranks_per_host":[2],"environment":{"A":"b"},"rows":[`
	good := head + `{"bytes":8,"variant":"ours","median_s":1,"min_s":1,"max_s":1,"verified":true},
{"bytes":8,"variant":"native","median_s":2,"min_s":1,"max_s":4,"verified":true},
{"bytes":0,"variant":"native","median_s":0,"min_s":0,"max_s":0,"verified":true},
{"bytes":16,"variant":"native","median_s":2,"median_low_s":1.5,"median_high_s":3,"min_s":1,"max_s":4,"verified":true}]}`
	run, err := ReadNativeRun(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	want := NativeRun{Job{4, openMPI, "x"}, 1, 2, []int{2}, map[string]string{"A": "b"}, []NativeTime{{8, 2, 1, 4}, {16, 2, 1.5, 3}}}
	if !same(*run, want) {
		t.Errorf("ReadNativeRun = %+v, want %+v", *run, want)
	}
	if got := fmt.Sprint(run.communicators()); got != "[2 4]" {
		t.Errorf("communicators %s, want those of 2 and 4 ranks", got)
	}
	least := strings.NewReplacer(`"ranks":4`, `"ranks":2`, `"hosts":2`, `"hosts":1`).Replace(good)
	if run, err := ReadNativeRun(strings.NewReader(least)); err != nil || fmt.Sprint(run.communicators()) != "[2]" {
		t.Errorf("two ranks on a host, the last one the root: %v, %v, want a communicator of 2", run, err)
	}
	for _, c := range []struct{ text, want string }{
		{`{}`, "format"},
		{`{"format":"topocast/network","version":2}`, `format is "topocast/network"`},
		{strings.Replace(good, `"version":2`, `"version":1`, 1), "version is 1"},
		{strings.Replace(good, `"ranks":4`, `"ranks":1`, 1), "1 ranks"},
		{strings.Replace(good, `"root":1`, `"root":4`, 1), "root 4"},
		{strings.Replace(good, `"root":1`, `"root":-1`, 1), "root -1"},
		{strings.Replace(good, `"hosts":2`, `"hosts":0`, 1), "0 hosts"},
		{strings.Replace(good, `"bytes":16`, `"bytes":8`, 1), "given twice"},
		{strings.Replace(good, `"median_low_s":1.5`, `"median_low_s":2.5`, 1), "in [2.5, 3]"},
		{strings.ReplaceAll(good, `"verified":true`, `"verified":false`), "verified false"},
		{strings.ReplaceAll(good, `native`, `chain`), "no times"},
		{good[:len(good)-9], "format"},
	} {
		if _, err := ReadNativeRun(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ReadNativeRun(%s) = %v, want an error of %q", c.text, err, c.want)
		}
	}
}

func FuzzReadNativeRun(f *testing.F) {
	f.Add([]byte(`{"format":"topocast/bcast-benchmark","version":2,"ranks":4,"hosts":2,"rows":[{"bytes":8,"variant":"native","median_s":2,"min_s":1,"max_s":4,"verified":true}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := ReadNativeRun(bytes.NewReader(text))
		if err != nil {
			return
		}
		if rules, err := BestNative([]NativeRun{*run}); err == nil {
			var out bytes.Buffer
			if err := rules.WriteText(&out); err != nil {
				t.Fatal(err)
			}
		}
	})
}

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

// chosen follows a table as MPICH 4.0 does: the first member whose condition holds.
func chosen(t *testing.T, table []conditions, ranks int, parent bool, size int64) string {
	t.Helper()
	for _, c := range table {
		if name, is := strings.CutPrefix(c.key, "algorithm="); is {
			return name
		}
		if condition(c.key, ranks, parent, size) {
			return chosen(t, c.below, ranks, parent, size)
		}
	}
	return ""
}

func condition(key string, ranks int, parent bool, size int64) bool {
	compare := func(name string, x int64) (bool, bool) {
		if n, err := strconv.ParseInt(strings.TrimPrefix(key, name+"<="), 10, 64); err == nil {
			return x <= n, true
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(key, name+"<"), 10, 64)
		return x < n, err == nil
	}
	if holds, is := compare("comm_size", int64(ranks)); is {
		return holds
	}
	if holds, is := compare("avg_msg_size", size); is {
		return holds
	}
	switch key {
	case "comm_hierarchy=parent":
		return parent
	case "comm_size=pow2":
		return ranks&(ranks-1) == 0
	case "collective=bcast", "comm_type=intra", "comm_size=any", "comm_hierarchy=any", "avg_msg_size=any":
		return true
	}
	return false
}

// TestMPICHTable: the written table, followed as MPICH follows it, has what was
// chosen for the job's communicators, and the library's own for all others, sizes at all borders.
func TestMPICHTable(t *testing.T) {
	const version = "MPICH Version: 4.0.2"
	forced := func(name string) map[string]string { return map[string]string{mpichForced: name} }
	names := []string{"binomial", "scatter_ring_allgather", "scatter_recursive_doubling_allgather", "smp", "nb", "auto"}
	rng := rand.New(rand.NewPCG(3, 1))
	own := parseConditions(t, []byte(mpichTable))
	for _, job := range []struct{ ranks, hosts int }{{12, 12}, {16, 16}, {12, 3}, {16, 8}, {8, 1}, {2, 2}} {
		for range 4 {
			sizes := []int64{8, 1 << 10, 1 << 16, 1 << 20, 1 << 32}
			best := map[int64]string{}
			runs := []NativeRun{}
			for _, name := range names {
				us := map[int64]float64{}
				for _, size := range sizes {
					us[size] = 100
				}
				runs = append(runs, forcedRun(version, forced(name), us))
			}
			for i, size := range sizes {
				name := names[rng.IntN(len(names))]
				best[size] = name
				for k := range runs {
					for j := range runs[k].Times {
						if tm := &runs[k].Times[j]; tm.Bytes == sizes[i] && names[k] == name && name != "auto" {
							tm.Median, tm.Low, tm.High = 1e-6, 1e-6, 1e-6
						}
					}
				}
			}
			for k := range runs {
				runs[k].Ranks, runs[k].Hosts, runs[k].PerHost = job.ranks, job.hosts, []int{job.ranks / job.hosts}
			}
			rules, err := BestNative(runs)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := rules.WriteMPICH(&out, mpichLibrary); err != nil {
				t.Fatal(err)
			}
			if out.Len()%4096 == 0 {
				t.Error("the file ends with a page")
			}
			ours := parseConditions(t, out.Bytes())
			sizesOfJob := map[int]bool{job.ranks: true}
			if job.hosts > 1 && job.hosts < job.ranks {
				sizesOfJob[job.hosts], sizesOfJob[job.ranks/job.hosts] = true, true
			}
			for ranks := 2; ranks <= 20; ranks++ {
				for _, parent := range []bool{false, true} {
					for _, size := range []int64{0, 1, 8, 9, 1024, 1025, 12288, 12289, 1 << 16, 1<<16 + 1, 524287, 524288, 1 << 20, 1<<20 + 1, 1<<31 - 1} {
						want := chosen(t, own, ranks, parent, size)
						name := "auto"
						for i := len(sizes) - 1; i >= 0 && sizes[i] >= size; i-- {
							if name = best[sizes[i]]; size <= sizes[i]/2 && (i == 0 || best[sizes[i-1]] != name) {
								name = "auto" // too far from what was measured
							}
						}
						if sizesOfJob[ranks] {
							switch {
							case name == "nb":
								want = "MPIR_Bcast_allcomm_nb"
							case name == "auto", name == "smp" && !parent, name == names[2] && ranks&(ranks-1) != 0:
							default:
								want = "MPIR_Bcast_intra_" + name
							}
						}
						if got := chosen(t, ours, ranks, parent, size); got != want {
							t.Fatalf("job %v, best %v: %d bytes on %d ranks, parent %v: %s, want %s in\n%s", job, best, size, ranks, parent, got, want, &out)
						}
					}
				}
			}
			if !bytes.Contains(out.Bytes(), []byte(`"collective=barrier":{"comm_type=intra":{"algorithm=MPIR_Barrier_intra_dissemination":{}}}}`)) {
				t.Errorf("barriers are gone from\n%s", &out)
			}
			if rules.WriteOpenMPI(&out) == nil {
				t.Error("WriteOpenMPI takes times of MPICH")
			}
		}
	}
	rules, err := BestNative([]NativeRun{forcedRun(version, nil, map[int64]float64{8: 1})})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ library, want string }{
		{"", "not found"},
		{`{"collective=bcast":{"composition=x":{}}}`, "not found"},
		{`{"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}}}`, "has no broadcast"},
		{`{"collective=bcast":{"comm_type=intra":{"phase=full":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`, `"phase=full" is not known`},
		{`{"collective=bcast":{"comm_type=intra":{"comm_size<8":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`, "nothing for messages"},
		{strings.Repeat(`{"collective=bcast":`, 50), "not found"},
	} {
		if err := rules.WriteMPICH(&bytes.Buffer{}, []byte(c.library)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("WriteMPICH with %.60s = %v, want an error of %q", c.library, err, c.want)
		}
	}
}
