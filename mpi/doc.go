// Package mpi carries messages between the ranks of a job. Everything in topocast that sends or receives asks
// for a Communicator, an interface of four methods. This package has the Communicator of a real MPI library.
//
// Most programs need one call, Run:
//
//	func main() {
//		if err := mpi.Run(work); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			mpi.Exit(1)
//		}
//	}
//
// built and started by
//
//	go build -o program .
//	mpirun -n 4 ./program
//
// Run calls work with a Communicator of all ranks. Without mpirun, Run returns ErrNoLauncher, and programs may
// go on with ranks of package mpi/local. The program needs no C compiler, also with CGO_ENABLED=0, and one binary
// runs on every MPI: it opens the library of its launcher when it starts (see World).
//
// # Libraries
//
// These libraries are tested, as Debian packages them, on Linux and amd64:
//
//	library                          versions                 ABI
//	Open MPI                         4.1.4, 5.0.7, 6.0.0rc2   Open MPI (libmpi.so.40)
//	MPICH                            4.0.2, 4.2.1, 5.0.2      MPICH (libmpi.so.12, libmpich.so.12)
//	libmpi_abi of Open MPI, MPICH    6.0.0rc2, 5.0.2          standard ABI of MPI 5 (libmpi_abi.so.1)
//
// Open MPI 4.1.0 and MPICH 3.4.1 passed once. Intel MPI, MVAPICH and Cray MPICH have MPICH's ABI, and are not
// tested. The same holds for arm64 and macOS. Windows and 32-bit systems open no library.
//
// # Communicators
//
//   - World and Run: the ranks of a job. World also attaches to an MPI that gompi or a C program has started.
//   - Package mpi/gompi: over a communicator of an application that uses gompi.
//   - Package mpi/local: goroutines of one process, for tests and for the latencies between the cores of one
//     machine.
//   - Package mpi/simnet: a simulated cluster, in virtual time.
//   - Your own: four methods, which package mpi/mpitest holds to the contract.
//
// # Abilities
//
// Whatever else a communicator can do is a small interface, found by type assertion. Whoever uses an ability has
// another way where it is absent.
//
//	SyncSender   Ssend, which returns when the receiver has begun
//	NonBlocking  sets of transfers that are under way at once (NewRequests has one for every communicator)
//	Ibcaster     of these sets: the MPI library's broadcast among them
//	NativeBcast  the MPI library's broadcast (native)
//	Collectives  its barrier, its reductions, and what moves blocks: see package mpi/collective
//	Scheduler    a whole list of transfers in one call
//	Splitter     communicators of some of the ranks, and duplicates
//	Timed        a batch of timed exchanges below Go, and what calls from Go cost
//	Clock        its time, virtual in a simulation
//	Placed       the host, the core and the CPUs of a rank (see Places)
//	Versioned    which library it is
//	Failer       the end of the whole job because of an error
//
// Errors are an *Error, which says where, around a class such as ErrTruncated, which says what.
//
// # Limits
//
// A message is bytes, at most 2^31-1 of them, and its receiver knows the length: another length is an error.
// There are no wildcards (any source, any tag) and no derived datatypes.
//
// All communicators of a rank belong to one goroutine, and those of MPI to one thread: MPI is started at
// MPI_THREAD_FUNNELED. Over mpi/local, calls of a rank from two goroutines seem a deadlock.
//
// Ranks have to agree on the length of a message. Open MPI writes a message of more than 4 KiB from the same host
// past the end of a shorter buffer. Then the receive returns ErrTruncated. That is so by default in 4.1, 5 and 6,
// in C programs, too. These settings stop it, at the price of slower messages within a host:
//
//	Open MPI 4.1    OMPI_MCA_btl_vader_single_copy_mechanism=none
//	Open MPI 5, 6   OMPI_MCA_smsc=^cma
//
// MPICH never writes past the end.
//
// Where ranks have to share CPUs (OversubscribedHosts), waits yield to each other. Bcast and Split do not.
//
// # How a process ends
//
// Launchers take a process that leaves without a word for a failure. MPICH from version 4.2 on says that word
// when C's exit runs, which Go's exit does not do. Close of the World says it to Hydra, MPICH's launcher. Under
// another launcher of such an MPICH (Slurm with PMI 2 or PMIx), end the program by Exit. After an error, end it by
// Exit everywhere: launchers may lose the status of a process that leaves while MPI runs.
//
// # Memory of Go and networks that read it
//
// Buffers of Go are handed to the library where they are. Go's heap does not move objects, and buffers under way are
// kept, so the library may read and write them. A cache of registered memory may fail, which RDMA networks have
// (InfiniBand, RoCE, Omni-Path, Slingshot). Go returns pages of freed objects to the system by madvise(2) with calls
// of its own. The hooks of UCX and of libfabric's default monitor are functions of the C library, and do not see
// these calls. If the same addresses become a buffer again, the card may still write to the old page, and the buffer
// keeps old bytes, without an error. Buffers that live as long as the program are safe, as their pages are never
// returned. Those of PingPong are not Go's. For others, turn the cache off, or let the kernel watch it:
// UCX_RCACHE_ENABLE=n, OMPI_MCA_mpi_leave_pinned=0, FI_MR_CACHE_MONITOR=userfaultfd (or kdreg2), as the machine has
// it. Shared memory and TCP register nothing. This is from the sources, not from a failure that was seen: there was
// no such network to try it on.
//
// # Design
//
// The real communicator is a thin layer of our own on the C library, which it opens and calls through package
// purego. gompi cannot be below it: gompi has neither 0-byte messages nor Ssend nor requests, it drops return
// codes, and its byte broadcast overwrites memory.
//
// The layer has one table per ABI of what a header file would tell: handles, constants, the layout of MPI_Status
// (abi_openmpi.go, abi_mpich.go, abi_standard.go). World holds the library to its table by messages of the process
// to itself, and by the library's own name, before anybody relies on it (abi_check.go). The standard ABI leaves the
// place of the count in the status to the library: World finds it out by these messages.
//
// Calls of C are made by a routine in assembly (batch_*.s), which is called like a C function: it makes one call
// after the other, looks whether each went well, and polls and yields where ranks share cores. A call from Go costs
// some 50 ns, as with cgo; a schedule, or a round trip of Timed between two readings of the clock, is one such call.
// The price is a routine for each architecture. The routine of amd64 is tested by all that runs on MPI here, the
// one of arm64 by its own tests, in an emulator. What the routine adds to a call in a measured time is told
// (CallCosts), and times of which it is a tenth are warned of.
package mpi
