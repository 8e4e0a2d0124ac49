// Package slurm holds job scripts for clusters that Slurm schedules: measure.sh
// measures the network, once per cluster, and application.sh runs a program that
// broadcasts along it, such as examples/embed. The scripts say how.
//
// make slurm-test runs both under Debian's Slurm, with Open MPI and MPICH, on the
// hosts of an emulated cluster (internal/netlab).
package slurm
