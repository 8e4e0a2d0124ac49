package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
)

// BenchmarkApplications prints the tables of examples/summa, of a product and of X U = B, and of examples/cg: times of the
// library's own broadcast or Allreduce and of ours, communication, and whether the order of ranks that was predicted
// to be better is. On the clusters of BenchmarkBroadcast, under both libraries, along the networks
// that it uses; parts by -bench, as Applications/racks/mpich/block.
//
//	TOPOCAST_REQUIRE_LAB=1 TOPOCAST_LAB_DIR=/tmp/figures go test ./internal/netlab/labtest -run - -bench Applications -benchtime 1x -timeout 3h
func BenchmarkApplications(b *testing.B) {
	s, programs := castPrograms(b)
	for _, cluster := range castClusters() {
		b.Run(cluster.name, func(b *testing.B) {
			l := programs.up(b, s, cluster.name, cluster.spec)
			for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
				b.Run(library, func(b *testing.B) {
					network := l.network(b, library)
					summa, cg := forMPI(b, library, "../../../examples/summa"), forMPI(b, library, "../../../examples/cg")
					for _, order := range castOrders() {
						b.Run(order, func(b *testing.B) {
							for b.Loop() {
								for _, program := range [][]string{
									{summa, "-n", "256", "-panel", "64", "-network", network},
									{summa, "-n", "256", "-panel", "64", "-trsm", "-network", network},
									{cg, "-n", "64", "-network", network},
								} {
									fmt.Println(l.run(b, library, order, applicationLimit, nil, program...))
								}
							}
						})
					}
				})
			}
		})
	}
}

// applicationLimit is how long one table may take.
const applicationLimit = 10 * time.Minute
