package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/outfile"
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
// writes what they took. What is sent and waited for is the library's own.
func measurePingPong(comm mpi.Communicator, out string) error {
	timed, times := comm.(mpi.Timed)
	native, has := comm.(mpi.NativeBcast)
	if !times || !has {
		return fmt.Errorf("labtest: %T: want ping-pongs and a broadcast of its own", comm)
	}
	const tag = 9
	var all []pingPong
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
						return err
					}
				}
			}
			for i := range p.Seconds {
				p.Seconds[i] /= 2
			}
			all = append(all, p)
			if err := native.Bcast(make([]byte, 1), 0); err != nil {
				return err
			}
		}
	}
	if comm.Rank() != 0 {
		return nil
	}
	return outfile.Write(out, func(w io.Writer) error { return json.NewEncoder(w).Encode(all) })
}
