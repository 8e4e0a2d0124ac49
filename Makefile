# make test runs all that this machine can run, and says in its last line what it could not, and why; with CI=true it
# fails then. It installs Open MPI and MPICH if it may, and nothing else on this machine; in a folder of the cache it
# installs another release of Debian, whose MPI libraries are tested, too (.ci/in-debian; make test-every-mpi has two). make test-tools lets other
# programs judge the files that we write, make slurm-test runs our job scripts under Slurm, and make test-preload other
# programs with our broadcast; all three install those programs.

GOFUMPT     = go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
LIBRARIES   = openmpi mpich
RELEASES    = trixie sid
RACE        = -race

# Tests take their long forms (tooltest.Long), but with -short: a plain go test ./... is to end within a minute.
export TOPOCAST_LONG = 1

# All is tested as a user has it who has no C compiler, but for the race detector and what is part of a program in C.
export CGO_ENABLED = 0

# What the race detector need not watch. The solver of contention has no goroutine, and each of those
# that use it has its own. Simulated ranks are coroutines, of which one runs at a time, and each sees
# all that was done before it: no two of them can race. Watched, both take five times as long.
UNRACED = model/contention mpi/simnet

# The packages whose code or tests have goroutines that run at once: others have nothing to find.
CONCURRENT = $(shell grep -lrE --include='*.go' --exclude='*_tools_test.go' '^\s*go [a-z]|[.]Go\b|"sync|parallel[.]Rows|local[.]Run|t[.]Parallel|RunParallel' . | xargs -n1 dirname | sort -u)

# The packages that have files of their own for cgo.
CGO = $(shell grep -lrE --include='*.go' '^import "C"|^//go:build .*\bcgo\b' . | xargs -n1 dirname | sort -u)

.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 18

.PHONY: test check build unit mpi-installed mpi test-every-mpi tools-installed test-tools bench-mpi bench-peers preload test-preload
.NOTPARALLEL:

test: ## install what is missing, run all tests that this machine can run
	.ci/test

# Format, vet and staticcheck. What needs cgo is vetted as part of a program with Open MPI, if that is there.
check: ## format, vet, staticcheck
	@unformatted=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofumpt v0.12.0 would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...
	for m in $(firstword $(LIBRARIES)); do CGO_ENABLED=1 .ci/with-mpi $$m go vet -tags gompi $(CGO) && \
		CGO_ENABLED=1 .ci/with-mpi $$m $(STATICCHECK) -tags gompi $(CGO) || exit 1; done

# Other systems are built, not run.
build:
	GOOS=darwin go vet ./...
	GOOS=windows go build ./...
	for arch in arm64 386; do GOARCH=$$arch go vet ./mpi || exit 1; done

# The race detector makes the long searches take ten times as long, and finds
# in their short form what it finds in the long one. What is built has been vetted.
unit: build ## tests in process, with the race detector
	go test -vet=off ./...
	if [ -n "$(RACE)" ]; then CGO_ENABLED=1 go test -vet=off $(RACE) $(foreach p,$(UNRACED),-gcflags=github.com/topocast/topocast/$p=-race=false) \
		-short -timeout 20m $(filter-out $(UNRACED:%=./%),$(CONCURRENT)); fi

mpi-installed:
	.ci/install-mpi

# Packages on MPI libraries of this machine, or of other releases of Debian.
mpi: ## tests on the MPI libraries of this machine
	.ci/test-mpi $(LIBRARIES)

test-every-mpi: mpi-installed mpi test-preload ## all jobs on eight MPI libraries
	EVERY=yes .ci/test-mpi $(RELEASES)

# Every rank that is killed, panics or is stuck in every phase, full disks, and files of other jobs, under both
# libraries: tables of how the jobs end. make mpi takes half of it in each of the two.
.PHONY: knocks
knocks: mpi-installed ## every rank killed, stuck or panicking in every phase
	for m in $(LIBRARIES); do .ci/with-mpi $$m sh -c "TOPOCAST_TEST_KNOCKS=all TOPOCAST_TEST_MPIRUN=\"\$$MPIRUN\" \
		go test -count=1 -v -timeout 30m -run '^TestJob(Knocks|Disks|Files)' ./examples/topocast" || exit 1; done

tools-installed:
	.ci/install-tools

# The tests TestTools... of files *_tools_test.go, which are skipped without TOPOCAST_TOOLS and
# fail with it where a tool is not there.
test-tools: mpi-installed tools-installed ## other programs judge our files
	TOPOCAST_TOOLS=1 go test -count=1 -timeout 15m -run ^TestTools $$(find . -name '*_tools_test.go' -exec dirname {} + | sort -u)

# Job scripts under Slurm, on the hosts of an emulated cluster, with both MPI libraries; and whole machines'
# switches in the files that Slurm reads. Needs root.
.PHONY: slurm-test
slurm-test: mpi-installed ## job scripts under a running Slurm
	.ci/install-slurm
	TOPOCAST_REQUIRE_SLURM=1 go test -count=1 -v -timeout 30m ./examples/slurm
	TOPOCAST_TOOLS=1 go test -count=1 -timeout 15m -run '^TestTools(Slurm|WholeMachines)' ./topology/encode

# Each fuzz target for FUZZTIME, or those of FUZZ, an expression that package and name match; FUZZSTREAMS
# of them side by side, by default one for each core.
.PHONY: fuzz
FUZZTIME = 10m
FUZZ = .
fuzz: ## fuzz all readers, FUZZTIME each
	.ci/fuzz $(FUZZTIME) '$(FUZZ)' $(FUZZSTREAMS)

# The figures of docs/measured.json, measured again into it and docs/measured.md. Those of FIGURES, an
# expression that their ids match, alone; all of them take some hours. Nothing else should run.
.PHONY: bench
FIGURES =
bench: mpi-installed ## measure docs/measured.json again, or FIGURES=id of it
	go run ./internal/figures -only '$(FIGURES)'

# Round trips through Timed against the same loop in C, what calls from Go add, and
# broadcasts between the cores of this machine against the library's own.
bench-mpi: mpi-installed ## round trips and broadcasts on this machine
	for m in $(LIBRARIES); do for bench in TimedAgainstC Calls; do .ci/with-mpi $$m sh -c \
		"TOPOCAST_TEST_MPIRUN=\"\$$MPIRUN --bind-to core\" go test -run - -bench $$bench -benchtime 1x ./mpi" || exit 1; done; done
	for m in $(LIBRARIES); do .ci/with-mpi $$m sh -c \
		'TOPOCAST_TEST_MPIRUN="$$MPIRUN" go test -run - -bench SharedMemory -benchtime 1x ./bcast' || exit 1; done

# Our MPI_Bcast, MPI_Allreduce and MPI_Reduce for any program and any MPI library: see examples/preload. The file that is preloaded needs neither
# MPI nor Go. It finds the program's MPI, and loads the part in Go, the file beside it, when there is use for it.
# Go's threads send each other no signals (asyncpreemptoff), which would be the program's. Both files are linked with
# the stub glibc/old.c first, so that they load on systems from glibc 2.31 on.
preload: ## build libtopocast.so, which any program can preload
	set -e; old=$$(mktemp -d); trap "rm -r $$old" EXIT; \
	case $$(uname -m) in x86_64) version=GLIBC_2.2.5 ;; *) version=GLIBC_2.17 ;; esac; echo "$$version { *; };" >$$old/map; \
	$(CC) -w -fno-builtin -nostdlib -shared -fPIC -Wl,-soname=libpthread.so.0,--version-script=$$old/map -o $$old/libold.so examples/preload/glibc/old.c; \
	$(CC) -O2 -Wall -fvisibility=hidden -ftls-model=initial-exec -shared -fPIC -pthread -Wl,-z,defs,--no-as-needed \
		-o libtopocast.so examples/preload/hook/*.c -L$$old -lold -l:libdl.so.2; \
	CGO_ENABLED=1 go build -buildmode=c-shared -ldflags="-X=runtime.godebugDefault=asyncpreemptoff=1 '-extldflags=-L$$old -lold'" \
		-o libtopocast.go.so ./examples/preload; \
	rm -f libtopocast.go.h

# Programs with and without it.
test-preload: mpi-installed preload ## programs with and without libtopocast.so
	.ci/install-preload
	for m in $(LIBRARIES); do .ci/with-mpi $$m sh -c "TOPOCAST_TEST_MPIRUN=\"\$$MPIRUN\" TOPOCAST_TEST_PRELOAD=$(CURDIR)/libtopocast.so \
		go test -count=1 -timeout 30m ./examples/preload" || exit 1; done

# What programs lose with it that only broadcast or reduce what is short: for a quiet machine, four minutes.
.PHONY: bench-preload
bench-preload: mpi-installed preload ## what short broadcasts and reductions of preloaded programs lose
	for m in $(LIBRARIES); do .ci/with-mpi $$m sh -c "TOPOCAST_TEST_MPIRUN=\"\$$MPIRUN\" TOPOCAST_TEST_PRELOAD=$(CURDIR)/libtopocast.so \
		go test -run - -bench Short -benchtime 1x ./examples/preload" || exit 1; done

include internal/netlab/lab.mk

# Our simulated ranks against SimGrid's SMPI, and our broadcasts against those of SMPI
# and, on the wiring of a large machine, of others.
bench-peers: tools-installed ## against SimGrid and on the wiring of Leonardo
	TOPOCAST_TOOLS=1 go test ./mpi/simnet -run - -bench PeerSimGrid -benchtime 3x
	go test ./bcast -run - -bench 'PeerSMPI|Leonardo' -benchtime 1x -timeout 1h

# A tarball of what is committed, with vendored modules, man pages, completions and a modulefile: it builds without a network.
.PHONY: dist
VERSION = 0.1.0
NAME = topocast-$(VERSION)
dist: ## make topocast-VERSION.tar.gz, which builds offline
	set -e; folder=$$(mktemp -d); trap "rm -rf $$folder" EXIT; \
	git archive --prefix=$(NAME)/ HEAD | tar x -C $$folder; \
	(cd $$folder/$(NAME) && go mod vendor); \
	go test -count=1 -run '^TestDist$$' ./examples/topocast -dist $$folder/$(NAME); \
	tar cz -C $$folder -f $(NAME).tar.gz $(NAME)
	@echo "$(NAME).tar.gz"
