package bcast_test

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

func BenchmarkBcast(b *testing.B) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		for _, size := range []int{8, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("mode=%d/bytes=%d", mode, size), func(b *testing.B) {
				const ranks = 4
				b.ReportAllocs()
				b.SetBytes(int64(size))
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
					bc, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
					if err != nil {
						return err
					}
					buf := make([]byte, size)
					if err := bc.Bcast(buf, 0); err != nil {
						return err
					}
					if world.Rank() == 0 {
						b.ResetTimer()
					}
					for range b.N { // all ranks have to run equally often
						if err := bc.Bcast(buf, 0); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
