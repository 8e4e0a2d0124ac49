//go:build linux

package labtest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// A pingPong is what messages between rank 0 and another take one way, while the other ranks
// wait in a broadcast of the library.
type pingPong struct {
	Peer    int       `json:"peer"`
	Bytes   int       `json:"bytes"`
	Seconds []float64 `json:"seconds"` // half round trips
}

// Samples by size: as many as take 50 ms over 100 Mbit/s.
var pingPongSamples = map[int]int{8: 40, 64 << 10: 10, 1 << 20: 5}

// measurePingPong is collective: rank 0 exchanges messages with each other rank in turn, and
// returns what they took. What is sent and waited for is the library's own.
func measurePingPong(comm mpi.Communicator) (all []pingPong, err error) {
	timed, times := comm.(mpi.Timed)
	native, has := comm.(mpi.NativeBcast)
	if !times || !has {
		return nil, fmt.Errorf("labtest: %T: want ping-pongs and a broadcast of its own", comm)
	}
	const tag = 9
	for _, size := range []int{8, 64 << 10, 1 << 20} {
		for peer := 1; peer < comm.Size(); peer++ {
			p := pingPong{peer, size, make([]float64, pingPongSamples[size])}
			first := comm.Rank() == 0
			if first || comm.Rank() == peer {
				other := 0
				if first {
					other = peer
				}
				warm := p.Seconds[:1]
				for _, samples := range [][]float64{warm, p.Seconds} {
					if err := timed.PingPong(samples, other, tag, size, 1, first); err != nil {
						return nil, err
					}
				}
			}
			for i := range p.Seconds {
				p.Seconds[i] /= 2
			}
			all = append(all, p)
			if err := native.Bcast(make([]byte, 1), 0); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
