package main

import (
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	asprinted "github.com/topocast/topocast/model/zhu"
)

// A zhuPrintedLaw predicts by Algorithms 1 and 2 as the paper prints them, on its main testbed: two racks of hosts, NICs
// of 940 Mbit/s and a backbone of 9.4 Gbit/s. Messages inside a host are not predicted.
//
// Host i has channel 2i to its switch and channel 2i+1 from it. The two directions of the backbone come last.
type zhuPrintedLaw struct {
	host []int // of each rank
}

const zhuRack = 15 // hosts of a rack, section 3.2.1

// times are the completion times in s of transfers that begin together, and the steps of Algorithm 2.
func (p *zhuPrintedLaw) times(transfers []model.Transfer) ([]float64, int, error) {
	const backbone = 2 * 2 * zhuRack // the first channel of it
	var capacity [backbone + 2]float64
	for c := range capacity {
		capacity[c] = zhuNIC
	}
	capacity[backbone], capacity[backbone+1] = zhuBackbone, zhuBackbone
	flows := make([]contention.Flow, len(transfers))
	for i, t := range transfers {
		from, to := p.host[t.Src], p.host[t.Dst]
		data := []int32{int32(2 * from)}
		switch {
		case from/zhuRack < to/zhuRack:
			data = append(data, backbone)
		case from/zhuRack > to/zhuRack:
			data = append(data, backbone+1)
		}
		flows[i] = contention.Flow{Data: append(data, int32(2*to+1)), Bytes: float64(t.Bytes)}
		for _, c := range flows[i].Data {
			flows[i].Reverse = append(flows[i].Reverse, c^1) // the other direction of the same link
		}
	}
	return asprinted.Model{Asymmetric: true}.Times(nil, capacity[:], flows)
}
