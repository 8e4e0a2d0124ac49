package main

import "github.com/topocast/topocast/model"

// A zhuTurn is one pattern of those of its kind.
type zhuTurn struct {
	kind  zhuKind
	index int
}

// A zhuKind is what a pattern is measured for.
type zhuKind int

const (
	toFit zhuKind = iota
	toSweep
	toHold
)

// transfers are those of a pattern.
func (z *zhuExperiment) transfers(t zhuTurn) []model.Transfer {
	switch t.kind {
	case toFit:
		return z.fit[t.index]
	case toSweep:
		return z.single[t.index].transfers
	default:
		return z.held[t.index].transfers
	}
}

// deal orders the patterns: if time runs out, all kinds have something. The fit, on which the others stand, has half of the turns.
func (z *zhuExperiment) deal() {
	number := [...]int{toFit: len(z.fit), toSweep: len(z.single), toHold: len(z.held)}
	var dealt [len(number)]int
	for len(z.order) < len(z.fit)+len(z.single)+len(z.held) {
		for _, kind := range []zhuKind{toFit, toHold, toFit, toSweep} {
			if dealt[kind] < number[kind] {
				z.order = append(z.order, zhuTurn{kind, dealt[kind]})
				dealt[kind]++
			}
		}
	}
}

// patterns are all, in their order.
func (z *zhuExperiment) patterns() [][]model.Transfer {
	var all [][]model.Transfer
	for _, t := range z.order {
		all = append(all, z.transfers(t))
	}
	return all
}
