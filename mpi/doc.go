// Package mpi is the seam between topocast and message passing. Everything that
// sends or receives asks for a Communicator, an interface of four methods; this
// package also has the one of a real MPI library.
//
// Most programs need one call, Run:
//
//	func main() {
//		if err := mpi.Run(work); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
//
// built and started by
//
//	go build -o program .
//	mpirun -n 4 ./program
//
// What work gets is a Communicator of all ranks. Without mpirun, Run returns
// ErrNoLauncher, and programs may go on with ranks of package mpi/local.
//
// # Builds
//
// That program needs no C compiler (CGO_ENABLED=0), and runs on Open MPI and on
// MPICH: it opens the library of its launcher when it starts (see World). Built by
//
//	CC=mpicc go build -tags mpi -o program .
//
// it is linked with one library, and so also runs on others than these two. Calls from Go
// cost some 50 ns less then. The loops of Timed and Scheduler are below Go in both: in C, or in assembly.
//
// # Communicators
//
//   - World and Run: the ranks of a job under Open MPI or MPICH, and with the tag
//     mpi under any library with an mpicc.
//   - Package mpi/gompi: a communicator of gompi, for applications that are on it
//     already and cannot use World.
//   - Package mpi/local: goroutines of one process, for tests and for the
//     latencies between the cores of one machine.
//   - Package mpi/simnet: a simulated cluster, in virtual time.
//   - Your own: four methods, which package mpi/mpitest holds to the contract.
//
// # Abilities
//
// Whatever else a communicator can do is a small interface, found by type
// assertion; who uses one has another way where it is absent.
//
//	SyncSender    Ssend, which returns when the receiver has begun
//	NonBlocking   several transfers under way at once
//	AnyWaiter     of these: the next one that is complete
//	Tester        of these: whether all are complete
//	Ibcaster      of these: the library's own broadcast among them
//	Scheduler     a whole list of transfers for the price of one call
//	Splitter      communicators of some of the ranks, and duplicates
//	NativeBcast   the library's own broadcast
//	Collectives   its other collectives, which package mpi/collective calls with Go values
//	Timed         a batch of timed exchanges below Go
//	CallCoster    what calls from Go add, and what is left of that in its readings
//	Clock         its time, virtual in a simulation
//	Named, Bound  the host, the core and the CPUs of a rank (see Places)
//	Versioned     which library it is
//	Aborter       the end of the whole job
//	Failer        the same, because of an error that is told, and while it waits
//
// Errors are an *Error, which says where, around a class such as ErrTruncated,
// which says what.
//
// # Limits
//
// A message is bytes, at most 2^31-1 of them, and its receiver knows the length:
// another one is an error. There are no wildcards (any source, any tag), no
// derived datatypes.
//
// A Communicator belongs to one goroutine, and a Comm to one thread: MPI is
// started at MPI_THREAD_FUNNELED. Both builds are for 64-bit systems; without the
// tag, for Linux on amd64 and arm64, and macOS, where nobody has tested it.
//
// Open MPI 4.1, by default, writes a message of more than 4 KiB that comes from
// the same host past the end of a shorter buffer. Recv and the steps of Perform
// in order do not let it: up to 4 KiB are received where there is room for any
// message (2 GiB of addresses without memory, where those are free), for longer
// ones, or without that room, the length is looked at before. Irecv, Bcast,
// PingPong and Perform ahead cannot: there the ranks have to agree on it. With
// OMPI_MCA_btl_vader_single_copy_mechanism=none in the environment all are safe
// without that.
//
// Where ranks have to share CPUs (CrowdedHosts), waits yield to each other; the
// library's own collectives (Bcast, Split, Dup) do not.
//
// # Memory of Go and networks that read it
//
// Buffers of Go are handed to the library where they are. Go's heap does not move
// objects, and buffers under way are kept, so the library may read and write them. What
// may fail is a cache of registered memory, which RDMA networks have (InfiniBand, RoCE, Omni-Path, Slingshot):
// Go returns pages of freed objects to the system by madvise(2) with calls of its own, which the hooks of UCX
// and of libfabric's default monitor, functions of the C library, do not see. If the
// same addresses become a buffer again, the card may still write to the page of before, and
// the buffer keeps old bytes, without an error. Buffers that live as long as the program are
// safe, as their pages are never returned, and those of PingPong are not Go's at all. For others,
// turn the cache off, or let the kernel watch it: UCX_RCACHE_ENABLE=n,
// OMPI_MCA_mpi_leave_pinned=0, FI_MR_CACHE_MONITOR=userfaultfd (or kdreg2), as the machine has it.
// Shared memory and TCP register nothing. This is from the sources, not from a failure that was
// seen: there was no such network to try it on.
//
// # Design
//
// The real communicator is a thin layer of our own on the C library. gompi
// cannot be below it: it has neither 0-byte messages nor Ssend nor requests,
// it drops return codes, and its byte broadcast overwrites memory.
//
// It has two back ends of the same functions (seam.go). One is in C, and takes the
// library's compiler. The other calls through package purego, and knows by heart
// what a header file would tell (abi_openmpi.go, abi_mpich.go): handles, constants,
// the layout of MPI_Status. It is held to that by messages of the process to
// itself, and by the library's own name, before anybody relies on it. The standard
// ABI of MPI 5 is not among them, as there is no library to test it with. The price
// is that every program that imports this package is linked with the C library of
// the system at run time, also with CGO_ENABLED=0.
//
// Without C, lists of calls are made by a routine in assembly (pure_batch_*.s), which is called like a C
// function: it makes one call after the other, looks whether each went well, and polls and yields where
// shim.h does. A schedule is written into such lists, and so is a round trip of Timed between two
// readings of the clock; the loops in Go that they replace took 1.2 times as long and more where ranks
// outnumber cores, since each wait was a call of its own, which Go's scheduler watches. The price
// is a routine for each architecture. That of amd64 is tested by all that runs on MPI here, that of arm64 by
// its own tests, in an emulator. What the routine adds to a call in a reading is told (CallCoster), and
// readings of which it is a tenth are warned of.
package mpi
