//go:build linux

package labtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A report is what a job found out.
type report struct {
	Hosts      []string    `json:"hosts"` // of each rank
	Latency    [][]float64 `json:"latency_s"`
	Groups     [][]int     `json:"groups"` // of ranks, all levels, coarse to fine
	Confidence []float64   `json:"support"`
	Warnings   []string    `json:"warnings"`
	Short      float64     `json:"short_s"` // time that measuring short messages took
	Long       float64     `json:"long_s"`  // and long ones
	Fabric     netlab.Loop `json:"fabric"`  // in both times
	Broadcasts []broadcast `json:"broadcasts"`
}

// A broadcast is one broadcast and what the links carried meanwhile.
type broadcast struct {
	Root     int              `json:"root"`
	Bytes    int              `json:"bytes"`
	Plan     string           `json:"plan"`
	Seconds  float64          `json:"seconds"` // until all ranks have confirmed
	Wrong    int              `json:"wrong"`   // ranks that got other bytes
	Counters *netlab.Counters `json:"counters"`
}

// Sizes in bytes: of the messages that give the latencies and the rates, and
// of the broadcasts. The large one takes 0.17 s over 100 Mbit/s.
const (
	shortSize = 8
	longSize  = 256 << 10
	smallCast = 1 << 10
	largeCast = 2 << 20
)

// asRanks is the argument by which the test binary is the program of a job: what its ranks measure is up to the next one.
//
//	-throughput  rates of links
//	-times       latencies and PLogP parameters
//	-casts       times of broadcasts
//	-alltoall    an exchange of all
//	-pingpong    messages
//	-late        messages that wait for their receiver
//
// Without one of these it measures all pairs of ranks, reconstructs the wiring, fits a network to the times, and broadcasts along it
// while the fabric counts.
const asRanks = "ranks"

// program is the test binary as the program of a job.
func program(tb testing.TB, arguments ...string) []string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return append([]string{self, asRanks}, arguments...)
}

// rank is a rank of a job. Rank 0 writes a report for the test to judge.
func rank(arguments []string) error {
	flags := flag.NewFlagSet(asRanks, flag.ContinueOnError)
	dir := flags.String("dir", "", "directory of the labs")
	lab := flags.String("lab", "", "name of the lab")
	out := flags.String("report", "", "file for the report")
	casts := flags.String("casts", "", "time the broadcasts that a file asks for instead")
	exchange := flags.Bool("pingpong", false, "time ping-pongs of rank 0 instead")
	rates := flags.Bool("throughput", false, "measure the rates of links instead")
	alltoall := flags.String("alltoall", "", "time an exchange of each rank with each instead, of so many bytes in all, or of those in a table as topocast place reads it")
	network := flags.String("network", "", "file of the network by which -alltoall is predicted")
	lateness := flags.Bool("late", false, "time the receipt of messages that have come before instead")
	times := flags.Bool("times", false, "measure latencies and PLogP parameters instead")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return mpi.Run(func(comm mpi.Communicator) (err error) {
		var found any // on rank 0
		switch {
		case *casts != "":
			found, err = measureCasts(comm, *casts)
		case *alltoall != "":
			found, err = measureAlltoall(comm, *alltoall, *network)
		case *exchange:
			found, err = measurePingPong(comm)
		case *lateness:
			found, err = measureLate(comm)
		case *times:
			found, err = measureTimes(comm)
		case *rates:
			found, err = measureThroughput(comm, *lab, &netlab.Settings{Dir: *dir})
		default:
			found, err = work(comm, *lab, &netlab.Settings{Dir: *dir})
		}
		if err != nil || comm.Rank() != 0 {
			return err
		}
		return outfile.Write(*out, func(w io.Writer) error { return json.NewEncoder(w).Encode(found) })
	})
}

// work is collective; other ranks than 0 get nil.
func work(comm mpi.Communicator, name string, s *netlab.Settings) (*report, error) {
	var lab *netlab.Lab
	if comm.Rank() == 0 {
		var err error
		if lab, err = netlab.Open(name, s); err != nil {
			return nil, err
		}
		if _, err = lab.Reset(); err != nil {
			return nil, err
		}
	}
	r, network, err := discover(comm)
	if err != nil {
		return nil, err
	}
	if lab != nil {
		c, err := lab.Counters()
		if err != nil {
			return nil, err
		}
		r.Fabric = c.Loop
	}
	b, err := bcast.New(comm, &bcast.Settings{Network: network, ModelOnly: true})
	if err != nil {
		return nil, err
	}
	for _, root := range []int{0, comm.Size() - 1} {
		for _, size := range []int{smallCast, largeCast} {
			done, err := cast(comm, b, lab, root, size)
			if err != nil {
				return nil, err
			}
			if r != nil {
				r.Broadcasts = append(r.Broadcasts, *done)
			}
		}
	}
	return r, nil
}

// discover is collective: it measures, and on rank 0 reconstructs and fits.
func discover(comm mpi.Communicator) (*report, *model.Network, error) {
	start := time.Now()
	// All ranks share a core: those of one host take turns with those of the others that are measured
	// at once, and were seen as far apart as two hosts of a rack.
	short, err := measure.Run(context.Background(), comm, &measure.Settings{Sizes: []int{shortSize}, Pairs: harness.Pairs{Sequential: true}, Sampling: measure.Sampling{Samples: 5, Seed: 1}})
	if err != nil {
		return nil, nil, err
	}
	middle := time.Now()
	s := &measure.Settings{Sizes: []int{longSize}, Sampling: measure.Sampling{Repetitions: 1, Samples: 3}}
	var found *topology.Result
	if comm.Rank() == 0 {
		if found, err = (&linkage.Robust{}).Reconstruct(short.Matrices()...); err != nil {
			return nil, nil, err
		}
		s.Pairs = harness.OneByOne(twoPerLevel(found.Hierarchy))
	}
	long, err := measure.Run(context.Background(), comm, s)
	if err != nil || comm.Rank() != 0 {
		return nil, nil, err
	}
	end := time.Now()
	observations := append(short.Observations(), long.Observations()...)
	fitted, err := fit.Network(found, observations, &fit.Settings{Network: model.Settings{Locations: short.Locations()}})
	if err != nil {
		return nil, nil, err
	}
	r := &report{
		Hosts: short.Hosts, Warnings: append(short.Warnings, found.Warnings...),
		Short: middle.Sub(start).Seconds(), Long: end.Sub(middle).Seconds(),
	}
	least, err := short.Matrix(func(x *measure.Measurement) float64 { return x.Min }, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	for i := range short.Ranks {
		row := append([]float64{}, least.RawRowView(i)...)
		row[i] = 0 // NaN has no place in JSON
		r.Latency = append(r.Latency, row)
	}
	for _, g := range found.Hierarchy.Groups()[1:] {
		r.Groups = append(r.Groups, g.Hosts)
		r.Confidence = append(r.Confidence, g.Confidence)
	}
	return r, fitted.Network, nil
}

// twoPerLevel are pairs of ranks that two groups of each level join, the
// farthest in order.
func twoPerLevel(h *topology.Hierarchy) [][2]int {
	var pairs [][2]int
	perLevel := make(map[int]int)
	for i, g := range h.Groups() {
		a := g.Hosts[0]
		for k := len(g.Hosts) - 1; k > 0 && perLevel[g.Level] < 2; k-- {
			if b := g.Hosts[k]; h.Common(a, b) == i {
				pairs = append(pairs, [2]int{a, b})
				perLevel[g.Level]++
				break
			}
		}
	}
	return pairs
}

// cast is collective: a broadcast of random bytes, verified on every rank.
// Rank 0 returns what the links carried.
func cast(comm mpi.Communicator, b *bcast.Broadcaster, lab *netlab.Lab, root, size int) (*broadcast, error) {
	buf := make([]byte, size)
	// The plan is told, and connections are made, before anything counts.
	if err := b.Bcast(buf, root); err != nil {
		return nil, err
	}
	want := make([]byte, size)
	rng := rand.New(rand.NewPCG(uint64(size), uint64(root)))
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	if comm.Rank() == root {
		copy(buf, want)
	}
	if _, err := together(comm, true); err != nil {
		return nil, err
	}
	if lab != nil {
		if _, err := lab.Reset(); err != nil {
			return nil, err
		}
	}
	if _, err := together(comm, true); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := b.Bcast(buf, root); err != nil {
		return nil, err
	}
	wrong, err := together(comm, bytes.Equal(buf, want))
	if err != nil || lab == nil {
		return nil, err
	}
	done := &broadcast{Root: root, Bytes: size, Wrong: wrong, Seconds: time.Since(start).Seconds()}
	if done.Counters, err = lab.Counters(); err != nil {
		return nil, err
	}
	plan, err := b.Plan(size, root)
	if err != nil {
		return nil, err
	}
	done.Plan = plan.String()
	return done, nil
}

// together waits until all ranks are here, and tells them how many of them are not
// well.
func together(comm mpi.Communicator, well bool) (int, error) {
	const tag = 7
	var ill, scratch [4]byte
	if !well {
		ill[0] = 1
	}
	count := binary.LittleEndian.Uint32
	all := share.Star(comm, 0, tag)
	err := all.Collect(ill[:], scratch[:], func(child []byte) {
		binary.LittleEndian.PutUint32(ill[:], count(ill[:])+count(child))
	})
	if err == nil {
		err = all.Tell(ill[:])
	}
	return int(count(ill[:])), err
}
