# Tests on real labs: clusters of network namespaces on this machine, with Open
# MPI and MPICH on them. They need Linux, root and /dev/net/tun, take some
# minutes, and fail where a lab cannot be made.
.PHONY: lab-test
lab-test: mpi-installed
	TOPOCAST_REQUIRE_LAB=1 go test -count=1 -timeout 15m ./internal/netlab/...
