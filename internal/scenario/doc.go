// Package scenario reads from text what a simulation of package mpi/simnet is about besides its cluster: the host of
// each rank (Placement) and the faults of the cluster (AddFault). The command line has these texts from its users, and
// tests say with them what they simulate.
package scenario
