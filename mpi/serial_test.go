package mpi_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// onlyBlocks hides all optional abilities of a communicator.
type onlyBlocks struct{ mpi.Communicator }

// TestRequestsOverBlockingCalls: rings of any stride, all pairs both ways at once, and several messages of one pair come
// to their end though Send waits for the receiver, and each message is the one of its number.
func TestRequestsOverBlockingCalls(t *testing.T) {
	content := func(src, dst, k int) []byte { return bytes.Repeat([]byte{byte(1 + src + 16*dst + k)}, 1+k) }
	for n := 2; n <= 9; n++ {
		strides := [][]int{}
		for d := 1; d < n; d++ {
			strides = append(strides, []int{d}, []int{d, d, n - d})
		}
		var all []int
		for d := 1; d < n; d++ {
			all = append(all, d)
		}
		for _, some := range append(strides, all) {
			err := local.Run(n, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
				set := mpi.NewRequests(onlyBlocks{c})
				for range 2 {
					var in [][]byte
					for k, d := range some {
						to, from := (c.Rank()+d)%n, (c.Rank()-d+n)%n
						in = append(in, make([]byte, 1+k))
						if err := set.Irecv(in[k], from, k); err != nil {
							return err
						}
						if err := set.Isend(content(c.Rank(), to, k), to, k); err != nil {
							return err
						}
					}
					told := make(map[int]bool)
					for i := 0; i >= 0; {
						var err error
						if i, err = set.WaitAny(); err != nil || told[i] {
							return fmt.Errorf("WaitAny = %d, %w, after %v", i, err, told)
						}
						told[i] = true
					}
					if err := set.WaitAll(); err != nil || len(told) != 2*len(some)+1 {
						return fmt.Errorf("%d told, WaitAll = %w", len(told), err)
					}
					for k, d := range some {
						if want := content((c.Rank()-d+n)%n, c.Rank(), k); !bytes.Equal(in[k], want) {
							return fmt.Errorf("message %d is %v, want %v", k, in[k], want)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%d ranks, strides %v: %v", n, some, err)
			}
		}
	}
}
