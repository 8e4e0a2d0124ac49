# make test is all that CI runs. It installs Open MPI and MPICH if it may.

GOFUMPT     = go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
LIBRARIES   = openmpi mpich

# Packages whose tests are run on both MPI libraries: by every rank of jobs of
# 1, 2, 4 and 8 ranks (TestMain is mpitest.Main), or by launching jobs (the
# tests TestJob...).
RANKS = mpi examples/gompi bcast measure
JOBS  = mpi examples/topocast

.PHONY: test check unit mpi-installed mpi bench-mpi bench-peers
.NOTPARALLEL:

test: mpi-installed check unit mpi lab-test
	@echo 'make test: all passed: format, vet, staticcheck, unit tests with -race, build without cgo, $(LIBRARIES) with 1, 2, 4 and 8 ranks, and on clusters of network namespaces'

check: mpi-installed
	@unformatted=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofumpt v0.12.0 would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	for m in $(LIBRARIES); do .ci/with-mpi $$m go vet -tags mpi ./... || exit 1; done
	$(STATICCHECK) ./...
	.ci/with-mpi $(firstword $(LIBRARIES)) $(STATICCHECK) -tags mpi ./...

unit:
	CGO_ENABLED=0 go build ./...
	go test -race ./...

mpi-installed:
	.ci/install-mpi

mpi: mpi-installed
	for m in $(LIBRARIES); do RANKS='$(RANKS)' JOBS='$(JOBS)' .ci/with-mpi $$m .ci/test-mpi || exit 1; done

# Round trips through Timed against the same loop in C.
bench-mpi: mpi-installed
	for m in $(LIBRARIES); do .ci/with-mpi $$m sh -c \
		'TOPOCAST_TEST_MPIRUN="$$MPIRUN --bind-to core" go test -tags mpi -run - -bench TimedAgainstC -benchtime 1x ./mpi' || exit 1; done

include internal/netlab/lab.mk

# Our simulated ranks against SimGrid's SMPI, where libsimgrid-dev is installed.
bench-peers:
	go test ./mpi/simnet -run - -bench PeerSimGrid -benchtime 3x
