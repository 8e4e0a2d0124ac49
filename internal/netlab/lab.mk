# Tests on real labs: clusters of network namespaces on this machine, with Open
# MPI and MPICH on them. They need Linux, root and /dev/net/tun, take some
# minutes, and fail where a lab cannot be made.
#
# A fabric wants a CPU for itself: one package after the other (-p 1). Where the machine does not
# keep time, tests go on for longer, and in the end say so (-v): NOT JUDGED, which
# with CI=true is a failure.
.PHONY: lab-test
lab-test: mpi-installed
	TOPOCAST_REQUIRE_LAB=1 go test -p 1 -count=1 -v -timeout 40m ./internal/netlab/...
