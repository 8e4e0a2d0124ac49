package main

import (
	"fmt"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
)

// messageCosts varies what a message costs the network card, and tells by it with how many cores each kernel is fastest.
// The paper does not print that cost, so nothing is compared. It is collective; the network and the ratios are rank 0's.
//
// The cost is one of occupation: a message to another host holds its processor's access to the network for so long beside
// its bytes, as if it were longer by them.
func (r *servetRun) messageCosts(n *model.Network, ratios *model.Degradation) error {
	type fastest struct {
		speed, all float64 // the highest, and that with all cores
		ranks      int
	}
	size := r.comm.Size()
	hosts := size / crayHost
	costs := []float64{0, 250e-9, 1e-6, 4e-6}
	best := make(map[string]fastest)
	key := func(kernel string, cost float64) string { return fmt.Sprint(kernel, cost) }
	for ranks := hosts; ranks <= size; ranks *= 2 {
		places, err := r.places(n, ratios, ranks)
		if err != nil {
			return err
		}
		for _, k := range r.class.kernels() {
			for _, cost := range costs {
				own := *r
				own.perMessage = cost
				seconds, err := own.time(k.rounds(ranks), places[1])
				if err != nil {
					return err
				}
				x := best[key(k.name, cost)]
				x.all = k.operations / seconds // of the last number of ranks, which is all
				if x.all > x.speed {
					x.speed, x.ranks = x.all, ranks
				}
				best[key(k.name, cost)] = x
			}
		}
	}
	if r.comm.Rank() != 0 {
		return nil
	}
	s := r.out.Section("Fewer cores per host, by what a message costs the network card (figure 8)")
	s.Say("The number of cores with which a kernel is fastest, by the time for which each message to another host holds its processor's access to the network beside its bytes. The paper finds IS fastest with two processes on each host, and CG and MG with half of the cores, and does not print this cost: the table says which cost that would take here, and nothing is compared.")
	t := s.Table("message-costs", outcome.Text("kernel"), outcome.Text("message"), outcome.Number("processes", ""), outcome.Number("on each host", ""), outcome.Number("of the cores", ""), outcome.Number("gain over all cores", ""))
	for _, k := range r.class.kernels() {
		for _, cost := range costs {
			x := best[key(k.name, cost)]
			t.Row(k.name, quantity.Seconds(cost), x.ranks, float64(x.ranks)/float64(hosts), float64(x.ranks)/float64(size), x.speed/x.all)
		}
	}
	s.Because("Memory is not what slows the simulated cores: CG reads 12 B for each two operations, so that the 16 cores of a processor at %.3g million operations per second read %s, where four channels of DDR3-1600 have 51.2 GB/s.",
		200.0, quantity.Rate(16*200e6*6))
	return nil
}
