package model

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/model/contention"
)

// simulated is the directory of what SimGrid computed. It may not enter the repository; a test is skipped
// without it, and TestPredictByHand has such patterns with numbers by hand.
func simulated(t testing.TB) string {
	t.Helper()
	data, ok := published.Beside()
	if !ok {
		t.Skip("SimGrid's times may not enter the repository, and are not beside it; TestPredictByHand does without")
	}
	return data
}

// patternFile is a file of concurrent transfers with the completion times that
// SimGrid 3.32 computed: maxmin_no without, maxmin_ct with cross traffic.
type patternFile struct {
	Channels map[string]float64 `json:"channel_MBps"`
	Patterns []struct {
		ID    string `json:"id"`
		Flows []struct {
			Src, Dst int
			Bytes    int64
			Path     []string
		}
		SimGrid struct {
			Fair    []float64 `json:"maxmin_no"`
			Crossed []float64 `json:"maxmin_ct"`
		} `json:"simgrid"`
	}
}

func readPatterns(t testing.TB, name string) patternFile {
	data, err := os.ReadFile(filepath.Join(simulated(t), "contention", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f patternFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// channels numbers the channels of a pattern file by name.
func (f *patternFile) channels() (number map[string]int32, capacity []float64) {
	var names []string
	for name := range f.Channels {
		names = append(names, name)
	}
	slices.Sort(names)
	number = make(map[string]int32)
	for i, name := range names {
		number[name] = int32(i)
		capacity = append(capacity, f.Channels[name]*1e6)
	}
	return number, capacity
}

// opposite is the other direction of a link.
func opposite(channel string) string {
	if link, ok := strings.CutSuffix(channel, "_UP"); ok {
		return link + "_DOWN"
	}
	return strings.TrimSuffix(channel, "_DOWN") + "_UP"
}

// Reference: specs of the contention model, "Exactness".
func TestPatternsEqualSimGrid(t *testing.T) {
	patterns := 0
	for _, name := range []string{"zhu10_1g", "zhu10_10g", "tree3_hetero37"} {
		f := readPatterns(t, name)
		number, capacity := f.channels()
		for _, mode := range []struct {
			name string
			s    contention.Sharing
		}{{"fair", contention.Sharing{}}, {"cross traffic", contention.Sharing{Coupling: 1, AckWeight: 0.05}}} {
			solver, err := contention.NewSolver(capacity, &mode.s)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range f.Patterns {
				patterns++
				flows := make([]contention.Flow, len(p.Flows))
				for i, flow := range p.Flows {
					f := contention.Flow{Bytes: float64(flow.Bytes)}
					for _, c := range flow.Path {
						f.Data = append(f.Data, number[c])
						f.Reverse = append(f.Reverse, number[opposite(c)])
					}
					flows[i] = f
				}
				got, err := solver.Times(nil, flows)
				if err != nil {
					t.Fatal(err)
				}
				want := p.SimGrid.Fair
				if mode.s.Coupling > 0 {
					want = p.SimGrid.Crossed
				}
				for i := range want {
					if !near(got[i], want[i], 1e-6) {
						t.Errorf("%s, %s: completion of flow %d = %.9g, want %.9g", p.ID, mode.name, i, got[i], want[i])
					}
				}
			}
		}
	}
	if patterns != 2*72 {
		t.Errorf("%d runs, want 2 of each of 72 patterns", patterns)
	}
}

// The same through a Network that is read from the platform file.
func TestPatternsOnThePlatformFile(t *testing.T) {
	n, err := Load(filepath.Join(simulated(t), "simgrid", "tree3_hetero37", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := readPatterns(t, "tree3_hetero37")
	for _, s := range []*contention.Sharing{{}, {Coupling: 1, AckWeight: 0.05}} {
		predictor, err := n.NewPredictor(&PredictSettings{Sharing: s, NoLatency: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Patterns {
			var transfers []Transfer
			for _, flow := range p.Flows {
				transfers = append(transfers, Transfer{Src: flow.Src, Dst: flow.Dst, Bytes: flow.Bytes})
			}
			got, err := predictor.Predict(nil, transfers)
			if err != nil {
				t.Fatal(err)
			}
			want := p.SimGrid.Fair
			if s.Coupling > 0 {
				want = p.SimGrid.Crossed
			}
			for i := range want {
				if !near(got[i], want[i], 1e-6) {
					t.Errorf("%s, sharing %+v: completion of flow %d = %.9g, want %.9g", p.ID, *s, i, got[i], want[i])
				}
			}
		}
	}
}

// The times of small messages on the platform files are SimGrid's latencies of
// its routes (route_us), and the bandwidths of the routes bound those of long ones.
func TestPlatformFilesGiveSimGridsLatencies(t *testing.T) {
	for _, name := range []string{"star16", "tworack30", "tree3_hetero37", "ring6x4", "fattree64", "torus3d_64"} {
		dir := filepath.Join(simulated(t), "simgrid", name)
		n, err := Load(filepath.Join(dir, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range readGzipCSV(t, filepath.Join(dir, "route_us.csv.gz")) {
			for j, want := range row {
				if i == j {
					continue
				}
				if got := n.Time(i, j, 0) * 1e6; !near(got, want, 1e-5) {
					t.Fatalf("%s: Time(%d, %d, 0) = %g us, want %g", name, i, j, got, want)
				}
			}
		}
	}
}

// readGzipCSV reads a matrix of numbers; empty cells are NaN.
func readGzipCSV(t *testing.T, path string) [][]float64 {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, len(lines))
	for i, line := range lines {
		for _, cell := range line {
			x := math.NaN()
			if cell != "" {
				if x, err = strconv.ParseFloat(cell, 64); err != nil {
					t.Fatal(err)
				}
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
}
