package main

import (
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
	size := r.comm.Size()
	hosts := size / crayHost
	var t *outcome.Table // rank 0's
	if r.comm.Rank() == 0 {
		s := r.out.Section("Fewer cores per host, by what a message costs the network card (figure 8)")
		s.Say("The number of cores with which a kernel is fastest, by the time for which each message to another host holds its processor's access to the network beside its bytes. The paper finds IS fastest with two processes on each host, and CG and MG with half of the cores, and does not print this cost: the table says which cost that would take here, and nothing is compared.")
		t = s.Table("message-costs", outcome.Text("kernel"), outcome.Text("message"), outcome.Number("processes", ""), outcome.Number("on each host", ""), outcome.Number("of the cores", ""), outcome.Number("gain over all cores", ""))
		s.Because("Memory is not what slows the simulated cores: CG reads 12 B for each two operations, so that the 16 cores of a processor at %.3g million operations per second read %s, where four channels of DDR3-1600 have 51.2 GB/s.",
			200.0, quantity.Rate(16*200e6*6))
	}
	places := make(map[int][]int) // by the number of processes
	for ranks := hosts; ranks <= size; ranks *= 2 {
		both, err := r.places(n, ratios, ranks)
		if err != nil {
			return err
		}
		places[ranks] = both[1]
	}
	for _, k := range r.class.kernels() {
		for _, cost := range []float64{0, 250e-9, 1e-6, 4e-6} {
			own := *r
			own.perMessage = cost
			var fastest placed
			speed := 0.0 // of the last number of ranks, which is all
			for ranks := hosts; ranks <= size; ranks *= 2 {
				var err error
				if speed, err = own.speed(k, places[ranks]); err != nil {
					return err
				}
				if speed > fastest.ours {
					fastest = placed{ranks: ranks, ours: speed}
				}
			}
			if t != nil {
				t.Row(k.name, quantity.Seconds(cost), fastest.ranks, float64(fastest.ranks)/float64(hosts), float64(fastest.ranks)/float64(size), fastest.ours/speed)
			}
		}
	}
	return nil
}
