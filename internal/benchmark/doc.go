// Package benchmark compares the broadcasts of a bcast.Broadcaster: what it has chosen, MPI_Bcast, and each algorithm with
// its best plan. It serves topocast bcast, and internal/rules reads the reports.
//
//	report, err := benchmark.Run(ctx, comm, b, &benchmark.Settings{Sizes: []int{8, 1 << 20}}) // collective
//	if err == nil && comm.Rank() == 0 {
//		err = report.WriteText(os.Stdout)
//	}
//
// All variants are timed on the same buffers in one round after another, so that what disturbs a round disturbs all of
// them. The statistics are those of Reinfjell 2023, section 6.5.1, and ratios within rounds.
package benchmark
