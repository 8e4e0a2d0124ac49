package adaptive

import (
	"fmt"
	"math/rand/v2"

	"github.com/topocast/topocast/topology/linkage"
)

const (
	allRepetitions = 2
	// Hosts of which all pairs are read by default: 2 million pairs, and two matrices of 32 MB.
	defaultMostAll = 2048
)

// withoutTree finds what is no tree of equal links: by all its pairs, or, of many hosts, by blocks.
func (r *Result) withoutTree(l *ledger, s *Settings, rng *rand.Rand) error {
	most := s.MostAllPairs
	if most == 0 {
		most = defaultMostAll
	}
	if l.hosts > most {
		return r.blocks(l, rng)
	}
	r.Method = MethodAllPairs
	hosts := make([]int32, l.hosts)
	for h := range hosts {
		hosts[h] = int32(h)
	}
	values, err := readAll(l, hosts, allRepetitions, rng)
	if err != nil {
		return fmt.Errorf("adaptive: all pairs: %w", err)
	}
	found, err := linkage.Reconstruct(matrices(values, l.hosts)...)
	if err != nil {
		return err
	}
	if l.hosts > fewHosts {
		found.Warnings = append(found.Warnings, "the hosts are no nested groups of equal links: all pairs were read")
	}
	r.Topology = found
	return nil
}
