//go:build linux

package labtest

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model"
)

// A forced is one of a library's own ways to broadcast, and how to force it.
type forced struct {
	name      string
	options   []string           // of the launcher
	algorithm schedule.Algorithm // what it does; nil: no schedule of ours
	segment   int                // bytes
}

// tunedNames are the algorithms of Open MPI's coll_tuned by number.
var tunedNames = [...]string{1: "linear", "chain", "pipeline", "split-binary", "binary", "binomial", "knomial", "scatter-allgather", "scatter-allgather-ring"}

// The segments that are forced; 0: the whole message.
var forcedSegments = []int{0, 4 << 10, 8 << 10, 32 << 10, 128 << 10}

// forcedWays are all ways of a library to broadcast. Those of Open MPI that take no
// segments are forced once.
func forcedWays(library string) (ways []forced) {
	if library == netlab.OpenMPI {
		for number, name := range tunedNames {
			for _, segment := range forcedSegments {
				cut := number >= 2 && number <= 7
				if name == "" || segment > 0 && !cut {
					continue
				}
				ways = append(ways, forced{
					name: fmt.Sprintf("%s/%d", name, segment),
					options: []string{
						"--mca", "coll_tuned_use_dynamic_rules", "1",
						"--mca", "coll_tuned_bcast_algorithm", strconv.Itoa(number),
						"--mca", "coll_tuned_bcast_algorithm_segmentsize", strconv.Itoa(segment),
					},
					algorithm: openMPIAlgorithm(name), segment: segment,
				})
			}
		}
		return ways
	}
	for _, name := range []string{"binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"} {
		ways = append(ways, forced{name: name, options: []string{"-genv", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", name}})
	}
	for _, tree := range []string{"kary", "knomial_1"} {
		for _, segment := range forcedSegments {
			ways = append(ways, forced{
				name: fmt.Sprintf("nb-%s/%d", tree, segment),
				options: []string{
					"-genv", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "nb",
					"-genv", "MPIR_CVAR_IBCAST_INTRA_ALGORITHM", "tsp_tree",
					"-genv", "MPIR_CVAR_IBCAST_TREE_TYPE", tree,
					"-genv", "MPIR_CVAR_IBCAST_TREE_PIPELINE_CHUNK_SIZE", strconv.Itoa(segment),
				},
			})
		}
	}
	for _, segment := range forcedSegments[1:] {
		ways = append(ways, forced{
			name: fmt.Sprintf("nb-ring/%d", segment),
			options: []string{
				"-genv", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "nb",
				"-genv", "MPIR_CVAR_IBCAST_INTRA_ALGORITHM", "tsp_ring",
				"-genv", "MPIR_CVAR_IBCAST_RING_CHUNK_SIZE", strconv.Itoa(segment),
			},
		})
	}
	return ways
}

// BenchmarkForced forces every way of the libraries to broadcast, and then prints how much
// faster ours, of what BenchmarkBroadcast has left in TOPOCAST_LAB_DIR, is than the best
// of them; and how far predictions of Open MPI's named algorithms along the discovered
// network are off. Of 8 MiB only if TOPOCAST_LAB_SIZES says so: linear takes 8 s.
//
//	TOPOCAST_REQUIRE_LAB=1 TOPOCAST_LAB_DIR=/tmp/figures go test ./internal/netlab/labtest -run - -bench Forced -benchtime 1x -timeout 3h
func BenchmarkForced(b *testing.B) {
	s, programs := castPrograms(b)
	sizes := castSizes()
	for _, cluster := range castClusters(1) {
		b.Run(cluster.name, func(b *testing.B) {
			l := programs.up(b, s, cluster.name, cluster.spec)
			for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
				b.Run(library, func(b *testing.B) {
					l.network(b, library)
					for _, order := range castOrders() {
						b.Run(order, func(b *testing.B) {
							for b.Loop() {
								job := newCastJob(b, l, sizes[:len(sizes)-1])
								job.NativeOnly = true
								job.Rounds = int(environment(b, castRounds, leastRounds))
								for _, way := range forcedWays(library) {
									l.casts(b, library, order, way.name, way.options, job)
								}
							}
						})
					}
				})
			}
		})
	}
	printFigures(b, programs.dir)
}

// printFigures prints what a directory holds.
func printFigures(tb testing.TB, dir string) {
	cells, err := readCells(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var table strings.Builder
	if err := writeTable(&table, cells); err != nil {
		tb.Fatal(err)
	}
	fmt.Print("\n", table.String(), "\n")
	printBest(cells)
	if err := printPredictions(dir, cells); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkFigures prints the figures that other benchmarks have left in TOPOCAST_LAB_DIR; it
// measures nothing.
func BenchmarkFigures(b *testing.B) {
	dir := os.Getenv(castDir)
	if dir == "" {
		b.Skip("wants figures: set " + castDir + " to the directory of some")
	}
	for b.Loop() {
		printFigures(b, dir)
	}
}

// printBest compares ours with the fastest way of each cell.
func printBest(cells []castCell) {
	best := make(map[string]*castCell)
	for i := range cells {
		c := &cells[i]
		if old := best[c.name()]; old == nil || stats.MiddleMedian(c.Native) < stats.MiddleMedian(old.Native) {
			best[c.name()] = c // the default may be the best
		}
	}
	gains := make(map[string][]float64)
	below, all := 0, 0
	for i := range cells {
		c := &cells[i]
		other := best[c.name()]
		if c.Forced != "" || len(c.Ours) == 0 {
			continue
		}
		gain := stats.MiddleMedian(other.Native) / stats.MiddleMedian(c.Ours)
		kind := "short"
		if c.Bytes >= 64<<10 {
			kind = "from 64 KiB on"
		}
		all++
		gains[c.MPI+" "+c.Order+", "+kind] = append(gains[c.MPI+" "+c.Order+", "+kind], gain)
		if gain < 0.95 {
			below++
			fmt.Printf("BELOW 0.95 of the best: %s: %.2f of %q: %s\n", c.name(), gain, other.Forced, c.Plan)
		}
	}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		for _, order := range castOrders() {
			for _, kind := range []string{"short", "from 64 KiB on"} {
				if g := gains[library+" "+order+", "+kind]; g != nil {
					fmt.Printf("gain over the best way of %s, %s, %s: %.2f, %d cells\n", library, order, kind, geometricMean(g), len(g))
				}
			}
		}
	}
	fmt.Printf("%d of %d cells below 0.95 of the best way\n", below, all)
}

// printPredictions compares the times of Open MPI's algorithms with those of their schedules
// along the network, and its fastest with the one that is predicted to be that.
func printPredictions(dir string, cells []castCell) error {
	specs := make(map[string]*netlab.Cluster)
	for _, c := range castClusters(1) {
		cluster, err := netlab.DecodeCluster(strings.NewReader(fmt.Sprintf(`{"format":"topocast/netlab","version":1,"spec":%q}`, c.spec)), "", c.name)
		if err != nil {
			return err
		}
		specs[c.name] = cluster
	}
	ways := make(map[string]forced)
	for _, way := range forcedWays(netlab.OpenMPI) {
		if way.algorithm != nil {
			ways[way.name] = way
		}
	}
	type race struct{ chosen, chosenTime, best float64 }
	races := make(map[string]race)
	errors := make(map[string][]float64)
	var all []float64
	for i := range cells {
		c := &cells[i]
		way, ok := ways[c.Forced]
		if !ok || c.MPI != netlab.OpenMPI {
			continue
		}
		network, err := readNetwork(networkFile(dir, c.Cluster, c.MPI))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		cluster := specs[c.Cluster]
		var locations []model.Location
		for _, h := range castPlace(cluster, c.Order) {
			locations = append(locations, model.Location{Host: cluster.Graph.Name(h), Core: -1})
		}
		if network, err = network.View(locations); err != nil {
			return err
		}
		p := schedule.Problem{Ranks: len(locations), Root: c.Root, Bytes: c.Bytes, Segment: way.segment}
		predicted, err := predict.Predict(network, way.algorithm, p)
		if err != nil {
			return err
		}
		measured := stats.MiddleMedian(c.Native)
		off := predicted/measured - 1
		for _, key := range []string{way.algorithm.Name(), quantity.Bytes(c.Bytes), fmt.Sprintf("%s, %s", way.algorithm.Name(), quantity.Bytes(c.Bytes))} {
			errors[key] = append(errors[key], off)
		}
		all = append(all, math.Abs(off))
		r, known := races[c.name()]
		if !known {
			r = race{math.Inf(1), math.Inf(1), math.Inf(1)}
		}
		if predicted < r.chosen {
			r.chosen, r.chosenTime = predicted, measured
		}
		r.best = min(r.best, measured)
		races[c.name()] = r
	}
	if len(all) == 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(errors)) {
		e := errors[key]
		abs := make([]float64, len(e))
		for i := range e {
			abs[i] = math.Abs(e[i])
		}
		fmt.Printf("prediction of %s: median error %+.1f %%, median |error| %.1f %%, %d cells\n", key, 100*stats.MiddleMedian(e), 100*stats.MiddleMedian(abs), len(e))
	}
	right := 0
	for _, name := range slices.Sorted(maps.Keys(races)) {
		r := races[name]
		if r.chosenTime <= 1.05*r.best {
			right++
		} else {
			fmt.Printf("WINNER: %s: the predicted one takes %.2f of the best\n", name, r.chosenTime/r.best)
		}
	}
	fmt.Printf("predictions: median |error| %.1f %% of %d; the predicted winner is within 5 %% of the best in %d of %d cells\n", 100*stats.MiddleMedian(all), len(all), right, len(races))
	return nil
}
