// Command gompi is an application that talks over gompi and lets topocast
// broadcast over it.
//
// It follows the temperature of a rod whose ends are kept cold, cut into one
// piece per rank. Rank 0 knows how warm the rod is at first, and broadcasts it
// with topocast; the pieces swap the temperatures at their borders, and add up
// their heat, with gompi.
//
//	CC=mpicc.openmpi go build -tags mpi -o rod ./examples/gompi
//	mpirun.openmpi -n 4 ./rod --cells 1000 --steps 5000
//
// gompi compiles in the paths of Open MPI. With MPICH (Debian's, here) its
// flags have to come first:
//
//	CC=mpicc.mpich CGO_CFLAGS="-O2 -g -I/usr/include/x86_64-linux-gnu/mpich" \
//	CGO_LDFLAGS="-Wl,--as-needed -lmpich" go build -tags mpi -o rod ./examples/gompi
package main
