package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
)

// TestWriteOpenMPI: the files, by hand from the formats.
func TestWriteOpenMPI(t *testing.T) {
	const classic = `1 # collectives
7 # broadcast
3 # sizes of communicators
1 # ranks and more
1 # rule
0 0 0 0 # the library's choice
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
	const inJSON = `{"rule_file_version":3,"module":"tuned","collectives":{"bcast":[{"comm_size_min":12,"comm_size_max":12,"rules":[` +
		`{"msg_size_min":0,"msg_size_max":4,"alg":0,"faninout":0,"seg_size":0},` +
		`{"msg_size_min":5,"msg_size_max":8,"alg":1,"faninout":4,"seg_size":0},` +
		`{"msg_size_min":9,"msg_size_max":32768,"alg":0,"faninout":0,"seg_size":0},` +
		`{"msg_size_min":32769,"msg_size_max":65536,"alg":3,"faninout":4,"seg_size":8192},` +
		`{"msg_size_min":65537,"msg_size_max":524288,"alg":0,"faninout":0,"seg_size":0},` +
		`{"msg_size_min":524289,"msg_size_max":"inf","alg":2,"faninout":1,"seg_size":4096}]}]}}`
	for _, c := range []struct{ library, want string }{
		{classicVersion, classic},
		{"Open MPI v5.0.7, package: Debian", strings.Replace(classic, classicVersion, "Open MPI v5.0.7, package: Debian", 1)},
		{"Open MPI v6.0.0rc2", inJSON},
	} {
		var file bytes.Buffer
		if err := best(t, fourSettings(c.library, nil)).WriteOpenMPI(&file); err != nil {
			t.Fatal(err)
		}
		got := file.String()
		if c.want == inJSON {
			got = strings.Join(strings.Fields(got), "")
		}
		if got != c.want {
			t.Errorf("%s: rules\n%s\nwant\n%s", c.library, got, c.want)
		}
	}
	for _, library := range []string{"", "Open MPI", "Open MPI vnext", "MPICH Version: 4.0.2"} {
		var file bytes.Buffer
		rules := best(t, []Report{reported(library, nil, map[int64]float64{8: 1})})
		if err := rules.WriteOpenMPI(&file); err == nil || !strings.Contains(err.Error(), "want those of Open MPI, with its version") || file.Len() > 0 {
			t.Errorf("WriteOpenMPI for %q: %v, %q, want an error and nothing", library, err, &file)
		}
	}
}

func best(t *testing.T, reports []Report) *Rules {
	t.Helper()
	rules, err := Best(reports)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestOpenMPIFileSteersOnlyMeasuredRanks reads files back by the rules of the libraries.
func TestOpenMPIFileSteersOnlyMeasuredRanks(t *testing.T) {
	want := func(bytes int64) string { // for the measured number of ranks, from the times of fourSettings
		switch {
		case bytes > 4 && bytes <= 8:
			return "1 4 0"
		case bytes > 32<<10 && bytes <= 64<<10:
			return "3 4 8192"
		case bytes > 512<<10:
			return "2 1 4096"
		}
		return "0 0 0"
	}
	for library, read := range map[string]func(t *testing.T, file []byte, ranks int, bytes int64) string{
		classicVersion: classicRule, "Open MPI v5.0.7": classicRule, "Open MPI v6.0.0rc2": jsonRule, "Open MPI v10.0.1": jsonRule,
	} {
		for _, measured := range []int{2, 3, 4, 12, 1000} {
			reports := fourSettings(library, nil)
			for i := range reports {
				reports[i].Ranks, reports[i].Hosts = measured, measured
			}
			var file bytes.Buffer
			if err := best(t, reports).WriteOpenMPI(&file); err != nil {
				t.Fatal(err)
			}
			for _, ranks := range []int{1, 2, 3, 4, measured - 1, measured, measured + 1, 2 * measured, 1 << 20} {
				for _, bytes := range []int64{0, 4, 5, 8, 9, 32 << 10, 32<<10 + 1, 64 << 10, 64<<10 + 1, 512 << 10, 512<<10 + 1, 1 << 20, 1 << 40} {
					expected := "0 0 0"
					if ranks == measured {
						expected = want(bytes)
					}
					if got := read(t, file.Bytes(), ranks, bytes); got != expected {
						t.Errorf("%s, file for %d ranks: %d bytes on %d ranks: %q, want %q", library, measured, bytes, ranks, got, expected)
					}
				}
			}
		}
	}
}

// classicRule follows a file as Open MPI 4.1 and 5.0 do: the last block for at most as many ranks, or else the first
// block, and in it the last line for at most as many bytes. It returns algorithm, fanout and segment.
func classicRule(t *testing.T, file []byte, ranks int, bytes int64) string {
	t.Helper()
	var numbers []int64
	for line := range strings.Lines(string(file)) {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
	}
	next := func() (n int64) {
		n, numbers = numbers[0], numbers[1:]
		return n
	}
	if collectives, id := next(), next(); collectives != 1 || id != 7 {
		t.Fatalf("%d collectives, the first is %d, want broadcasts, 7, alone", collectives, id)
	}
	chosen := ""
	for block := range next() {
		atLeast, rule := next(), ""
		for line := range next() {
			from, values := next(), fmt.Sprint(next(), " ", next(), " ", next())
			if line == 0 && from != 0 {
				t.Fatalf("the first line is for %d bytes, want 0", from)
			}
			if from <= bytes {
				rule = values
			}
		}
		if block == 0 || atLeast <= int64(ranks) {
			chosen = rule
		}
	}
	if len(numbers) > 0 {
		t.Fatalf("%d numbers are left", len(numbers))
	}
	return chosen
}

// jsonRule follows a file as Open MPI 6 does: the block and the rule in whose ranges the numbers are, or "0 0 0".
func jsonRule(t *testing.T, file []byte, ranks int, bytes int64) string {
	t.Helper()
	var read struct {
		Version     int    `json:"rule_file_version"`
		Module      string `json:"module"`
		Collectives map[string][]struct {
			Min   int `json:"comm_size_min"`
			Max   int `json:"comm_size_max"`
			Rules []struct {
				Min       int64 `json:"msg_size_min"`
				Max       any   `json:"msg_size_max"`
				Algorithm int   `json:"alg"`
				Fanout    int   `json:"faninout"`
				Segment   int   `json:"seg_size"`
			} `json:"rules"`
		} `json:"collectives"`
	}
	if err := json.Unmarshal(file, &read); err != nil || read.Version != 3 || read.Module != "tuned" || len(read.Collectives) != 1 {
		t.Fatalf("%+v, %v, want version 3 of tuned, with one collective", read, err)
	}
	for _, block := range read.Collectives["bcast"] {
		if ranks < block.Min || ranks > block.Max {
			continue
		}
		for _, rule := range block.Rules {
			if most, is := rule.Max.(float64); bytes >= rule.Min && (rule.Max == "inf" || is && float64(bytes) <= most) {
				return fmt.Sprint(rule.Algorithm, " ", rule.Fanout, " ", rule.Segment)
			}
		}
	}
	return "0 0 0"
}

// TestForcedUnderHANIsRefused: the times are not those of the algorithm that was forced where HAN broadcast.
func TestForcedUnderHANIsRefused(t *testing.T) {
	for _, c := range []struct {
		library string
		hosts   int // of 12 ranks
		shared  map[string]string
		refused bool
	}{
		{"Open MPI v5.0.7", 3, nil, true},
		{"Open MPI v6.0.0rc2", 3, nil, true},
		{"Open MPI v4.1.4", 3, nil, false},
		{"Open MPI v5.0.7", 1, nil, false},
		{"Open MPI v5.0.7", 12, nil, false},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll_han_bcast_dynamic_global_communicator_module": "3"}, false},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll_han_bcast_dynamic_global_communicator_module": "6"}, true},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll": "^han"}, false},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll": "^sm,han"}, false},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll": "^sm"}, true},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll": "basic,self,tuned"}, false},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll": "han,self,tuned"}, true},
		{"Open MPI v5.0.7", 3, map[string]string{"OMPI_MCA_coll_han_priority": "0"}, false},
		{"Open MPI v4.1.4", 3, map[string]string{"OMPI_MCA_coll_han_priority": "50"}, true},
	} {
		reports := fourSettings(c.library, maps.Clone(c.shared))
		for i := range reports {
			reports[i].Hosts, reports[i].PerHost = c.hosts, []int{12 / c.hosts}
		}
		_, err := Best(reports)
		const remedy = "measure all with --mca coll_han_bcast_dynamic_global_communicator_module 3"
		if refused := err != nil && strings.Contains(err.Error(), remedy); refused != c.refused || err != nil && !refused {
			t.Errorf("%s, %d hosts, %v: %v, want refused %v", c.library, c.hosts, c.shared, err, c.refused)
		}
		if _, err := Best(reports[2:3]); err != nil {
			t.Errorf("%s, %d hosts, %v, nothing forced: %v", c.library, c.hosts, c.shared, err)
		}
	}
}
