package benchmark

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// TestReportSaysHowItWasMeasured: where, by which library, and how that was set.
func TestReportSaysHowItWasMeasured(t *testing.T) {
	t.Setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "3")
	t.Setenv("OMPI_MCA_btl", "self")
	const ranks = 3
	var r *Report
	network := casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2))
	err := local.Run(ranks, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(world, &bcast.Settings{Network: network, ModelOnly: true})
		if err != nil {
			return err
		}
		report, err := Run(t.Context(), world, b, &Settings{Sizes: []int{0, 1000}, Repetitions: 1, Only: []string{"native", "chain"}})
		if world.Rank() == 0 {
			r = report
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Environment["OMPI_MCA_coll_tuned_bcast_algorithm"] != "3" || r.Environment["OMPI_MCA_btl"] != "self" {
		t.Errorf("environment %v", r.Environment)
	}
	if r.Hosts != 1 || !slices.Equal(r.PerHost, []int{ranks}) || len(r.Places) != 16 {
		t.Errorf("conditions %+v", r.Conditions)
	}
	bound, err := predict.Bound(network, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	var variants []string
	for _, x := range r.Rows {
		variants = append(variants, fmt.Sprint(x.Bytes, " ", x.Variant))
		if want := map[int]float64{0: 0, 1000: bound}[x.Bytes]; x.Bound != want {
			t.Errorf("%d bytes: bound %g, want %g", x.Bytes, x.Bound, want)
		}
	}
	if want := []string{"0 native", "0 chain", "1000 native", "1000 chain"}; !slices.Equal(variants, want) {
		t.Errorf("rows %q, want %q", variants, want)
	}
}

func TestBenchmarkRefusesUnknownVariants(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		comm := withNothing(world)
		b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		err = (&Settings{Only: []string{"ours", "native"}}).CheckNames(b)
		if err == nil || !strings.Contains(err.Error(), `native: want one of ours, flat`) {
			return fmt.Errorf("Benchmark = %w, want an error that lists what there is", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConditionsCountRanksPerHost(t *testing.T) {
	var places []mpi.Place
	for _, host := range []string{"a", "a", "b", "c", "c", "c", "d"} {
		places = append(places, mpi.Place{Host: host, Core: -1})
	}
	if c := conditionsOf(withNothing(nil), places); c.Hosts != 4 || !slices.Equal(c.PerHost, []int{1, 2, 3}) {
		t.Errorf("conditions %+v, want 4 hosts with 1, 2 or 3 ranks", c)
	}
}

func TestReportCSV(t *testing.T) {
	nan := math.NaN()
	r := &Report{Ranks: 4, Root: 1, Rows: []Row{
		{
			Bytes: 8, Variant: "ours", Median: 1.5e-6, Low: 1.25e-6, High: 1.75e-6, Min: 1e-6, Max: 2e-3, Mean: 1.5e-6, Variance: 4e-14,
			Gain: 1.25, GainLow: 1.125, GainHigh: 1.5, Bound: 1e-6, Count: 21, Verified: true,
			Plan: predict.Plan{Algorithm: schedule.Chain{}, Segment: 4096, Predicted: 1.25e-6},
		},
		{
			Bytes: 8, Variant: "native", Median: 3, Low: nan, High: nan, Min: 1, Max: 3, Mean: 2, Variance: nan,
			Gain: nan, GainLow: nan, GainHigh: nan, Bound: nan, Count: 2, Plan: predict.Plan{Predicted: nan},
		},
	}}
	var out bytes.Buffer
	if err := r.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	const want = `ranks,root,bytes,variant,algorithm,segment_bytes,blocking,median_s,median_low_s,median_high_s,mean_s,variance_s2,min_s,max_s,gain,gain_low,gain_high,bound_s,predicted_s,count,verified
4,1,8,ours,chain,4096,false,1.5e-06,1.25e-06,1.75e-06,1.5e-06,4e-14,1e-06,0.002,1.25,1.125,1.5,1e-06,1.25e-06,21,true
4,1,8,native,native,0,false,3,,,2,,1,3,,,,,,2,false
`
	if out.String() != want {
		t.Errorf("WriteCSV = %s, want %s", &out, want)
	}
	if records, err := csv.NewReader(&out).ReadAll(); err != nil || len(records) != 3 {
		t.Errorf("%d records, %v", len(records), err)
	}
	if err := r.WriteCSV(brokenWriter{}); err == nil || !strings.Contains(err.Error(), "benchmark: write report") {
		t.Errorf("WriteCSV on a full disk: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }
