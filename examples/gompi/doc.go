// Command gompi is an application that talks over gompi and lets topocast broadcast.
//
// It follows the temperature of a rod whose ends are kept cold, cut into one piece per rank. Rank 0 knows the temperatures at
// first, and broadcasts them with topocast. The pieces swap the temperatures at their borders, and add up their heat, with gompi.
//
//	CC=mpicc.openmpi go build -tags gompi -o rod ./examples/gompi
//	mpirun.openmpi -n 4 ./rod --cells 1000 --steps 5000
//
// There are two ways from gompi to topocast. mpi.World attaches to the MPI that gompi has started: do this. With --adapter the
// program uses package mpi/gompi, which sends over gompi and has few abilities. Both need gompi.Start(true) on the main
// thread: gompi.Start(false) starts MPI for one thread only, and the Go runtime has several.
//
// gompi has the paths of Open MPI compiled in. With MPICH (Debian's, here) its flags have to come first:
//
//	CC=mpicc.mpich CGO_CFLAGS="-O2 -g -I/usr/include/x86_64-linux-gnu/mpich" \
//	CGO_LDFLAGS="-Wl,--as-needed -lmpich" go build -tags gompi -o rod ./examples/gompi
package main
