package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology/draw"
)

// Kernels are played: each of their rounds is a pause in place of the computation, and then the messages of that round. The same
// messages are sent twice, with ranks where a scheduler puts them and where Servet's rules do.

const tagKernel = harness.FirstTag + 1

// time runs the rounds with rank i of the program on rank place[i]. It returns on rank 0 how long they take until the last
// rank is through. It is collective.
func (r *servetRun) time(rounds []kernelRound, place []int) (float64, error) {
	program := make(map[int]int, len(place))
	for rank, p := range place {
		program[p] = rank
	}
	me, takesPart := program[r.comm.Rank()]
	requests := r.comm.(mpi.NonBlocking).NewRequests()
	now, barrier := share.Clock(r.comm), harness.NewBarrier(r.comm)
	if _, err := barrier.Wait(0); err != nil {
		return 0, err
	}
	start := now()
	for _, round := range rounds {
		if !takesPart {
			break
		}
		r.pause(round.seconds)
		used := int64(0)
		for _, t := range round.transfers {
			if place[t.Src]/crayHost != place[t.Dst]/crayHost {
				t.Bytes += int64(r.perMessage * crayAccess)
			}
			var err error
			switch me {
			case t.Dst:
				err = requests.Irecv(r.buffer(&used, t.Bytes), place[t.Src], tagKernel)
			case t.Src:
				err = requests.Isend(r.buffer(&used, t.Bytes), place[t.Dst], tagKernel)
			}
			if err != nil {
				return 0, err
			}
		}
		if err := requests.WaitAll(); err != nil {
			return 0, err
		}
	}
	if _, err := barrier.Wait(0); err != nil {
		return 0, err
	}
	return now() - start, nil
}

// pause stands for computation.
func (r *servetRun) pause(seconds float64) {
	if c, is := r.comm.(*simnet.Comm); is {
		c.Sleep(seconds)
	} else {
		time.Sleep(time.Duration(seconds * float64(time.Second)))
	}
}

// buffer is memory for a message, behind that of the round's earlier ones. Simulated ranks, whose long messages carry nothing,
// use the same for all.
func (r *servetRun) buffer(used *int64, bytes int64) []byte {
	if r.simulated {
		*used = 0
	}
	end := *used + bytes
	if int64(len(*r.scratch)) < end {
		*r.scratch = make([]byte, end) // earlier messages keep what they have
	}
	piece := (*r.scratch)[*used:end]
	*used = end
	return piece
}

// medianTime is the median of several times of the rounds. It is collective; others than rank 0 get other numbers.
func (r *servetRun) medianTime(rounds []kernelRound, place []int, repetitions int) (float64, error) {
	times := make([]float64, repetitions)
	for i := range times {
		var err error
		if times[i], err = r.time(rounds, place); err != nil {
			return 0, err
		}
	}
	return stats.Median(times), nil
}

// speed is that of a kernel in operations per second. It is collective; others than rank 0 get other numbers.
func (r *servetRun) speed(k kernel, place []int) (float64, error) {
	repetitions := r.repetitions
	if r.simulated {
		repetitions = 1 // of thousands of messages, whose noise evens out
	}
	seconds, err := r.medianTime(k.rounds(len(place)), place, repetitions)
	return k.operations / seconds, err
}

// A placed is the speed of a kernel on a number of ranks, in operations per second.
type placed struct {
	ranks     int
	scheduled float64 // ranks put host by host
	ours      float64 // by Servet's rules
}

// kernels is figures 7 and 8. It is collective; the network and the ratios are rank 0's.
func (r *servetRun) kernels(n *model.Network, ratios *model.Degradation) error {
	all := make(map[string][]placed) // by kernel
	size, budget, over := r.comm.Size(), r.budget.split(1), false
	for ranks := 4; ranks <= size && !over; ranks *= 2 {
		places, err := r.places(n, ratios, ranks)
		if err != nil {
			return err
		}
		for _, k := range r.class.kernels() {
			over, err = harness.Share(r.comm, nil, func() (bool, error) { return budget.spent(), nil })
			if err != nil {
				return err
			}
			if over {
				if r.comm.Rank() == 0 {
					r.out.Warn("the budget ended before %s on %d processes: figures 7 and 8 have fewer", k.name, ranks)
				}
				break
			}
			x := placed{ranks: ranks}
			if x.scheduled, err = r.speed(k, places[0]); err != nil {
				return err
			}
			if x.ours, err = r.speed(k, places[1]); err != nil {
				return err
			}
			all[k.name] = append(all[k.name], x)
		}
	}
	if r.comm.Rank() != 0 {
		return nil
	}
	if len(all) == 0 {
		r.out.Warn("the kernels of figures 7 and 8 want 4 ranks, of which there are %d", size)
		return nil
	}
	if err := r.figure7(all, len(n.Hosts())); err != nil {
		return err
	}
	return r.figure8(all, len(n.Hosts()))
}

// places are the ranks of a program by the order of the job, and by Servet's rules. It is collective.
func (r *servetRun) places(n *model.Network, ratios *model.Degradation, ranks int) ([2][]int, error) {
	return harness.Share(r.comm, nil, func() (both [2][]int, err error) {
		both[0] = hostByHost(n)[:ranks]
		if ratios != nil {
			if n, err = n.With(func(s *model.Settings) { s.Degradation = ratios }); err != nil {
				return both, err
			}
		}
		both[1], err = placement.Servet{}.Place(n, ranks)
		return both, err
	})
}

// hostByHost are the places in the order in which schedulers fill hosts.
func hostByHost(n *model.Network) []int {
	all := inOrder(n.Ranks())
	names := make([]string, n.Ranks())
	for rank := range names {
		names[rank] = n.Location(rank).Host
	}
	host := truth.Number(names)
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(host[a]-host[b], n.Location(a).Core-n.Location(b).Core)
	})
	return all
}

// notTheMachine is why a job's numbers are not the paper's.
const notTheMachine = "These are the ranks of this job, not the 4,096 cores of the paper's machine: what is compared is how far its results hold here."

// figure7 compares the speeds of both placements.
func (r *servetRun) figure7(all map[string][]placed, hosts int) error {
	size := r.comm.Size()
	s := r.out.Section("Kernels by placement (figure 7)")
	s.Say("Millions of operations per second of the kernels, class %s, with ranks put on the first cores, host by host, as job schedulers do (JS), and by Servet's rules. The paper's machine had 128 hosts of two processors of 16 cores, and up to 2,048 processes; here are %s. It does not print the class: 128 cores with class A have about as much work each as 2,048 with class C. Its UPC forms of the kernels are not repeated.", r.class.name, words.Count(size, "core"))
	t := s.Table("figure-7", outcome.Text("kernel"), outcome.Number("processes", ""), outcome.Number("JS", "MOPS"), outcome.Number("Servet", "MOPS"), outcome.Number("gain", ""))
	least := math.Inf(1)
	var series []draw.Series
	for _, k := range r.class.kernels() {
		scheduled, ours := draw.Series{Name: k.name + ", JS"}, draw.Series{Name: k.name + ", Servet"}
		most := 0.0
		for _, x := range all[k.name] {
			gain := x.ours / x.scheduled
			t.Row(k.name, x.ranks, x.scheduled/1e6, x.ours/1e6, gain)
			most = max(most, gain)
			if x.ranks < size {
				least = min(least, gain)
			}
			scheduled.X, scheduled.Y = append(scheduled.X, float64(x.ranks)), append(scheduled.Y, x.scheduled/1e6)
			ours.X, ours.Y = append(ours.X, float64(x.ranks)), append(ours.Y, x.ours/1e6)
		}
		series = append(series, scheduled, ours)
		if hosts > 1 {
			s.Compare(outcome.Otherwise, "greatest gain of "+k.name, "", k.greatestGain, most)
		}
	}
	if hosts > 1 && !math.IsInf(least, 1) {
		s.Compare(outcome.AtLeast, "least gain while cores are free: \"outperforms in all scenarios\"", "", 1, least)
	}
	if r.cray {
		s.Because("An input: the simulated machine has %d hosts. Where a scheduler takes two of them or more, Servet's rules can spread the processes over %.3g times as many at most; the paper's 256 processes were on 8 hosts, or on 128. --full has 64 hosts.", hosts, float64(hosts)/2)
		s.Because("An input: the paper does not print how fast its cores are. Here the kernels compute for most of their time, and a message costs no more than its latency and its bytes, on its machine also the NIC's work, by which IS gets slower with more processes.")
		if least < 1 {
			s.Because("Placements that lose put ranks on more hosts, so that messages go over the network that were inside a host before.")
		}
	} else if hosts > 1 {
		s.Because(notTheMachine)
	}
	picture, err := draw.Plot("Figure 7: kernels by placement", draw.Axis{Name: "processes", Log: true}, draw.Axis{Name: "MOPS", Log: true}, series)
	return s.Figure("figure-7", picture, err)
}

// figure8 compares speeds by the share of the cores that work.
func (r *servetRun) figure8(all map[string][]placed, hosts int) error {
	s := r.out.Section("Fewer cores per host (figure 8)")
	cores, reference := float64(r.comm.Size()), 2*hosts
	s.Say("Speed by Servet's rules on all hosts, relative to %d processes, two on each host, one on each processor where there are two. The paper found IS fastest so, with 256 processes on 4,096 cores, and CG and MG with half of the cores.", reference)
	t := s.Table("figure-8", outcome.Text("kernel"), outcome.Number("processes", ""), outcome.Number("of the cores", ""), outcome.Number("speed-up", ""))
	var series []draw.Series
	for _, k := range r.class.kernels() {
		base := slices.IndexFunc(all[k.name], func(x placed) bool { return x.ranks == reference })
		if base < 0 {
			continue
		}
		line := draw.Series{Name: k.name}
		var fastest placed
		for _, x := range all[k.name] {
			if x.ranks < hosts {
				continue
			}
			share, speedUp := float64(x.ranks)/cores, x.ours/all[k.name][base].ours
			t.Row(k.name, x.ranks, share, speedUp)
			line.X, line.Y = append(line.X, share), append(line.Y, speedUp)
			if x.ours > fastest.ours {
				fastest = x
			}
		}
		series = append(series, line)
		if k.name == "IS" { // 256 processes on 128 hosts, the fewest that figure 8 has
			s.Compare(outcome.AtMost, "processes per host with which IS is fastest", "", 2, float64(fastest.ranks)/float64(hosts))
		} else {
			s.Compare(outcome.Otherwise, fmt.Sprintf("share of the cores with which %s is fastest", k.name), "", 0.5, float64(fastest.ranks)/cores)
		}
	}
	if series == nil {
		s.Say("There are too few ranks per host.")
		return nil
	}
	if r.cray {
		s.Because("An input: simulated cores compute as fast as if each were alone, and a NIC takes as many messages as it is given. So more cores are always faster. What a message may cost a NIC is varied below.")
	} else {
		s.Because(notTheMachine)
	}
	picture, err := draw.Plot("Figure 8: speed by the share of the cores", draw.Axis{Name: "share of the cores", Log: true}, draw.Axis{Name: "speed-up"}, series)
	return s.Figure("figure-8", picture, err)
}
