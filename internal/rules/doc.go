// Package rules hands measured broadcasts back to the MPI library: it writes the file from which the
// library chooses the algorithms of MPI_Bcast. Programs that do not use topocast gain from it.
//
//	report, err := rules.Read("own.json", file) // one for each algorithm that was forced, and one for none
//	...
//	best, err := rules.Best(reports)
//	err = best.WriteOpenMPI(out)
//	fmt.Println("mpirun", best.Options("bcast.rules"), "program")
//
// # What a file changes
//
// A file changes broadcasts on communicators of N ranks, as many as the measured job has, and for sizes near
// the measured ones. The library chooses everything else. The formats differ in how they say so:
//
//   - Open MPI 4.1 and 5.0 read the classic format. They use the last block whose number of ranks is not above
//     that of the communicator, and the first block if there is none. So the first block is for one rank and
//     leaves the choice to the library, the second is for N, and the third, for N+1, leaves the choice again.
//   - Open MPI 6.0 reads a JSON format in which a block has a least and a greatest number of ranks: N and N. The
//     classic format has another meaning in 6.0.0rc2: the first block above the size of the communicator.
//   - MPICH 3.4 to 5.0 read a JSON tree of conditions, which replaces the library's whole table.
//
// # Broadcasts that consist of smaller broadcasts
//
// Where several hosts have several ranks each, a library may broadcast between hosts first, then within hosts. It
// has communicators of its own for these parts. A forced algorithm then works on the parts.
//
// Open MPI 5 and 6 do so by their component HAN. An option hands broadcasts to the component tuned instead, the one
// that reads the file. Best refuses reports of forced algorithms in which HAN broadcast. Options repeats the
// settings of the reports, that option included.
//
// MPICH 3.4 and 4 do so, too. WriteMPICH names the communicator of one rank per host and those of the ranks of
// a host by their kind and size. A communicator of another size whose hosts have as many ranks as the measured
// ones is steered in its parts: the table cannot tell these apart. MPICH 5.0 broadcasts over all ranks at once.
package rules
