//go:build mpi && cgo

package main

/*
#include "pmpi.h"
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

// main is never called: the process has one of its own.
func main() {}

// our is what the process knows of its network. A library that is called by programs in C has no other place
// for it than this variable.
var our = &knowledge{getenv: os.Getenv}

// What tpLoad has found, in bits.
const (
	isAble  = 1
	isModel = 2
	isTuned = 4
)

// tpStart does nothing: who calls it knows that Go runs.
//
//export tpStart
func tpStart() {}

// The program's cores are the program's.
func init() { runtime.GOMAXPROCS(1) }

// tpLoad is called on rank 0 of a communicator of so many ranks, which is that rank of the world. It stores how
// long, in s, broadcasts of the library have to take before any is compared with ours.
//
//export tpLoad
func tpLoad(ranks, multiple, world C.int, patience *C.double) C.int {
	if multiple != 0 {
		our.refuse(errThreads)
		return 0
	}
	network, err := our.load()
	if err != nil {
		// Rank 0 of the world has the report for that.
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

// maxClass is the last class of sizes that an int64 can tell.
const maxClass = 62

// A broadcaster is what a communicator of the program has.
type broadcaster struct {
	*bcast.Broadcaster
	comm  *mpi.Comm
	model bool
}

// tpAttach is collective: it makes a broadcaster on the ranks of a communicator, or returns 0.
//
//export tpAttach
func tpAttach(comm unsafe.Pointer, model C.int) C.uintptr_t {
	b, err := attach(comm, model != 0)
	if err != nil {
		our.refuse(err)
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(b))
}

func attach(handle unsafe.Pointer, model bool) (*broadcaster, error) {
	comm, err := mpi.Attach(handle)
	if err != nil {
		return nil, err
	}
	// Broadcasts of the library in groups would take a communicator per group.
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
			// What fits so badly would be timed first, which was not asked for.
			err = errors.Join(fmt.Errorf("TOPOCAST_CHOICE=model: %s", b.Warnings()[0]), b.Close())
		}
	}
	return nil, errors.Join(err, comm.Close())
}

// tpChoices fills in how broadcasts of a class of sizes are made from each root, where that is decided, and
// tells whether any is.
//
//export tpChoices
func tpChoices(handle C.uintptr_t, class, size C.int, choices *C.tp_choice) C.int {
	b := cgo.Handle(handle).Value().(*broadcaster)
	found := C.int(0)
	if class > maxClass {
		return found
	}
	for root := range unsafe.Slice(choices, size) {
		plan, decided := b.Chosen(1<<class, root)
		if !decided {
			continue
		}
		found = 1
		choice := C.tp_choice{way: C.TP_NATIVE}
		if plan.Algorithm != nil {
			choice.way = C.TP_OURS
			if gain := plan.MeasuredNative - plan.Measured; !math.IsNaN(gain) {
				choice.gain = C.float(gain)
			}
		}
		unsafe.Slice(choices, size)[root] = choice
	}
	return found
}

// tpBcast is collective: it broadcasts so many bytes, and returns a code of MPI.
//
//export tpBcast
func tpBcast(handle C.uintptr_t, buf unsafe.Pointer, bytes C.int64_t, root C.int) C.int {
	b := cgo.Handle(handle).Value().(*broadcaster)
	_, decided := b.Chosen(int(bytes), int(root))
	err := b.Bcast(unsafe.Slice((*byte)(buf), bytes), int(root))
	switch {
	case errors.Is(err, mpi.ErrTruncated), errors.Is(err, mpi.ErrLength):
		return C.MPI_ERR_TRUNCATE
	case err != nil:
		fmt.Fprintf(os.Stderr, "topocast: %v\n", err)
		return C.MPI_ERR_OTHER
	}
	if !decided && !b.model {
		if tuned, err := b.Table(time.Now()); err == nil && tuned != nil { // rank 0
			our.keep(tuned)
		}
	}
	return C.MPI_SUCCESS
}

// tpClose is collective: the communicator is freed.
//
//export tpClose
func tpClose(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	b := h.Value().(*broadcaster)
	h.Delete()
	// What cannot be freed stays, as it would without us.
	_ = errors.Join(b.Close(), b.comm.Close())
}

// tpReport is called on rank 0 of the world when MPI_Finalize begins. So many communicators had a broadcaster.
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
