//go:build linux && cgo && (amd64 || arm64)

package main

/*
#include "shared.h"

static inline void *tp_call_lookup(tp_lookup lookup, const char *name) { return lookup(name); }
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/mpi"
)

// our is what the process knows of its network. A library that is called from C has no other place for it
// than a variable of the package.
var our = &knowledge{getenv: os.Getenv}

// What tpLoad has found, in bits.
const (
	isAble  = 1
	isModel = 2
	isTuned = 4
)

// tpStart makes Go use one core at a time: the others are the program's. It returns once Go runs.
//
//export tpStart
func tpStart() { runtime.GOMAXPROCS(1) }

// tpLoad is called on rank 0 of a communicator, whose rank in MPI_COMM_WORLD is world. It returns a sum of isAble and
// its like, and stores the patience in s (see usualPatience).
//
//export tpLoad
func tpLoad(ranks, multiple, world C.int, patience *C.double) C.int {
	if multiple != 0 {
		our.refuse(errThreads)
		return 0
	}
	network, err := our.load()
	if err != nil {
		// Rank 0 of the world has the report for this line.
		if world != 0 && !errors.Is(err, errNoNetwork) {
			our.once.Do(func() { fmt.Fprintf(os.Stderr, "topocast: rank %d: %v\n", world, err) })
		}
		return 0
	}
	found := C.int(isAble)
	*patience = C.double(our.patience)
	if our.model {
		found |= isModel
	}
	if isTunedFor(network, int(ranks)) {
		found |= isTuned
	}
	return found
}

// maxClass is the last class of sizes whose largest size is an int64.
const maxClass = 62

// A broadcaster broadcasts on a communicator of the program.
type broadcaster struct {
	*bcast.Broadcaster
	comm  *mpi.Comm
	model bool
}

// tpAttach is collective: it makes a broadcaster on the ranks of a communicator, or returns 0. comm points to a variable of
// type MPI_Comm.
//
//export tpAttach
func tpAttach(comm unsafe.Pointer, model C.int, lookup C.tp_lookup) C.uintptr_t {
	b, err := attach(comm, model != 0, func(name string) uintptr {
		text := append([]byte(name), 0)
		return uintptr(C.tp_call_lookup(lookup, (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))))
	})
	if err != nil {
		our.refuse(err)
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(b))
}

func attach(handle unsafe.Pointer, model bool, lookup func(name string) uintptr) (*broadcaster, error) {
	comm, err := mpi.Attach(handle, lookup)
	if err != nil {
		return nil, err
	}
	// All algorithms but native broadcasts in groups, which would take a communicator per group.
	settings := &bcast.Settings{Algorithms: schedule.Algorithms()}
	if comm.Rank() == 0 {
		settings.Network, err = our.load()
		settings.ModelOnly = our.model
	}
	if err = known(comm, settings.Network, err); err == nil {
		var b *bcast.Broadcaster
		if b, err = bcast.New(comm, settings); err == nil {
			if !model || len(b.Warnings()) == 0 {
				return &broadcaster{b, comm, model}, nil
			}
			// A network that fits so badly would be timed first, which the user did not ask for.
			err = errors.Join(fmt.Errorf("TOPOCAST_CHOICE=model: %s", b.Warnings()[0]), b.Close())
		}
	}
	return nil, errors.Join(err, comm.Close())
}

// tpChoices stores the decisions for a class of sizes by root, where there are any, and tells whether there are.
//
//export tpChoices
func tpChoices(handle C.uintptr_t, class, size C.int, choices *C.tp_choice) C.int {
	b := cgo.Handle(handle).Value().(*broadcaster)
	found := C.int(0)
	if class > maxClass {
		return found
	}
	for root := range unsafe.Slice(choices, size) {
		plan, err := b.Plan(1<<class, root)
		if err != nil { // not decided
			continue
		}
		found = 1
		choice := C.tp_choice{variant: C.TP_NATIVE}
		if plan.Algorithm != nil {
			choice.variant = C.TP_OURS
			if gain := plan.MeasuredNative - plan.Measured; !math.IsNaN(gain) {
				choice.gain = C.float(gain)
			}
		}
		unsafe.Slice(choices, size)[root] = choice
	}
	return found
}

// tpBcast is collective: it broadcasts buf, and returns TP_DONE, TP_TRUNCATED or TP_FAILED.
//
//export tpBcast
func tpBcast(handle C.uintptr_t, buf unsafe.Pointer, bytes C.int64_t, root C.int) C.int {
	b := cgo.Handle(handle).Value().(*broadcaster)
	_, undecided := b.Plan(int(bytes), int(root))
	err := b.Bcast(unsafe.Slice((*byte)(buf), bytes), int(root))
	switch {
	case errors.Is(err, mpi.ErrTruncated), errors.Is(err, mpi.ErrLength):
		return C.TP_TRUNCATED
	case err != nil:
		fmt.Fprintf(os.Stderr, "topocast: %v\n", err)
		return C.TP_FAILED
	}
	if undecided != nil && !b.model {
		if tuned, err := b.Table(time.Now()); err == nil && tuned != nil { // rank 0
			our.keep(tuned)
		}
	}
	return C.TP_DONE
}

// tpClose is collective: it frees a broadcaster.
//
//export tpClose
func tpClose(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	b := h.Value().(*broadcaster)
	h.Delete()
	// A communicator that cannot be freed stays, as it would without this library.
	_ = errors.Join(b.Close(), b.comm.Close())
}

// tpReport is called on rank 0 of MPI_COMM_WORLD when MPI_Finalize begins. broadcasters is how many communicators
// have had one.
//
//export tpReport
func tpReport(tallies *C.tp_tally, broadcasters C.int) {
	r := report{Date: time.Now().UTC().Format(time.RFC3339), Network: our.path(), Reason: our.reason(), Comms: int(broadcasters)}
	for class, t := range unsafe.Slice(tallies, C.TP_CLASSES) {
		r.add(row{Bytes: 1 << min(class, maxClass), Calls: int64(t.calls), Ours: int64(t.ours), Sum: int64(t.bytes), Seconds: float64(t.seconds), Gain: float64(t.gain)})
	}
	path, isSet := os.LookupEnv("TOPOCAST_REPORT")
	if path != "" || !isSet {
		fmt.Fprintln(os.Stderr, r.line())
	}
	if path != "" {
		if err := outfile.Write(path, r.write); err != nil {
			fmt.Fprintf(os.Stderr, "topocast: report: %v\n", err)
		}
	}
}
