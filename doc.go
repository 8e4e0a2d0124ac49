// Package topocast only names the packages of this module; there is nothing to import here.
//
//	mpi                 communicators: World, under Open MPI or MPICH
//	mpi/local           ranks in this process
//	mpi/simnet          simulated ranks, in virtual time
//	mpi/simnet/anywhere one call that starts a program in each of these ways
//	mpi/gompi           over gompi, for applications that are on it (tag gompi)
//	mpi/collective      Allreduce, Gather, Alltoall and the like, on any communicator
//	mpi/mpitest         the contract that every communicator keeps
//	measure             Discover, and measurements of latencies; around it
//	                    plogp, throughput, concurrent, servet, adaptive and check,
//	                    which stand on harness, pingpong and the file of record
//	topology            what is known of a wiring; around it
//	  linkage           nested groups by our robust method: most programs need only this
//	  clique            switches from cliques of equal latency (Bufe 2014)
//	  spanner           hosts wired to each other: greedy cycles (Bannikov and Salnikov 2014)
//	  cluster           clustering on a matrix of distances, as Reinfjell 2023 used it
//	  latencyfit        latencies of the links of a wiring that is known
//	  compare           a machine against its specification, or against itself last month
//	  cut               bisection, and hosts on two sides of a switch
//	  encode            matrices, graphs, groups and results in files, one per format
//	  draw              positions in space, figures, text, and the HTML page
//	model               the network file: predicted times; around it
//	  contention        how transfers share links
//	  placement         a core for each rank
//	  comparison        a measured network against a reference, in words
//	  results           what the command prints as JSON, for Go programs
//	  zhu               the algorithms as that paper prints them
//	bcast               the broadcast; around it
//	  schedule          the algorithms, of which yours may be one
//	  predict           what plans cost
//	  tuner             paired tests that decide between plans
//	  table             what was tuned
//
// An application measures once (the command topocast discover, or [measure.Discover]), then loads the
// network and broadcasts along it:
//
//	network, err := model.Load("cluster.json")
//	b, err := bcast.New(comm, &bcast.Settings{Network: network}) // collective
//	err = bcast.BcastSlice(b, values, 0)                         // collective
//
// The file may be of other ranks, or of the same in another order: [bcast.New] compares where the ranks run
// and takes the part of the network that is theirs. [bcast.Broadcaster.Warnings] says what does not fit
// (hosts that were not measured, say), and then no plan displaces the library's broadcast untested. For
// predictions of one's own:
//
//	locations, err := bcast.Locations(comm) // collective: where all ranks run
//	mine, err := network.View(locations)    // their network, in their order
//
// [mpi.Run] ends the job if work fails on a rank. Save what is to outlive a job inside work: if MPI_Finalize
// does not return within two minutes ([mpi.Run]), Run ends the job with status 0 and a line.
//
// A pair test of one's own runs over all pairs by [harness.Conductor.AllPairs], with rounds, groups, budget, progress
// and watchdog.
//
// [bcast.New]: https://pkg.go.dev/github.com/topocast/topocast/bcast#New
// [bcast.Broadcaster.Warnings]: https://pkg.go.dev/github.com/topocast/topocast/bcast#Broadcaster.Warnings
// [harness.Conductor.AllPairs]: https://pkg.go.dev/github.com/topocast/topocast/measure/harness#Conductor.AllPairs
// [measure.Discover]: https://pkg.go.dev/github.com/topocast/topocast/measure#Discover
// [mpi.Run]: https://pkg.go.dev/github.com/topocast/topocast/mpi#Run
package topocast
