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
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce"
)

// our is what the process knows of its network. A library that is called from C has no other place for it
// than a variable of the package.
var our = &knowledge{getenv: os.Getenv}

// tpStart makes Go use one core at a time: the others are the program's. It returns once Go runs.
//
//export tpStart
func tpStart() { runtime.GOMAXPROCS(1) }

// tpLoad is called on rank 0 of a communicator, whose rank in MPI_COMM_WORLD is world, for a collective. It stores
// the TP_FINDINGS that are not 0.
//
//export tpLoad
func tpLoad(which, ranks, multiple, world C.int, findings *C.double) {
	if multiple != 0 {
		our.refuse(errThreads)
		return
	}
	network, err := our.load()
	if err != nil {
		// Rank 0 of the world has the report for this line.
		if world != 0 && !errors.Is(err, errNoNetwork) {
			our.once.Do(func() { fmt.Fprintf(os.Stderr, "topocast: rank %d: %v\n", world, err) })
		}
		return
	}
	if which != C.TP_BCAST && our.keepsReductions {
		return
	}
	found := unsafe.Slice(findings, C.TP_FINDINGS)
	found[C.TP_ABLE], found[C.TP_PATIENCE] = 1, C.double(our.patience)
	if our.model {
		found[C.TP_MODEL] = 1
	}
	if isTunedFor(network, int(ranks), nameOf(which)) {
		found[C.TP_TUNED] = 1
	}
}

// maxClass is the last class of sizes whose largest size is an int64.
const maxClass = 62

// nameOf is the name of a collective in tables of what is tuned.
func nameOf(which C.int) string { return [...]string{"", table.Allreduce, table.Reduce}[which] }

// A server makes the calls of one collective on a communicator of the program.
type server struct {
	comm       *mpi.Comm
	collective string // see nameOf
	model      bool
	caster     *bcast.Broadcaster // of broadcasts
	reducer    *reduce.Reducer    // of reductions
	tuned      *table.Tuning      // what note has found; nil: nothing
}

// tpAttach is collective: it makes a server on the ranks of a communicator, or returns 0. comm points to a variable of
// type MPI_Comm.
//
//export tpAttach
func tpAttach(comm unsafe.Pointer, which, model C.int, lookup C.tp_lookup) C.uintptr_t {
	s, err := attach(comm, nameOf(which), model != 0, func(name string) uintptr {
		text := append([]byte(name), 0)
		return uintptr(C.tp_call_lookup(lookup, (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))))
	})
	if err != nil {
		our.refuse(err)
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(s))
}

func attach(handle unsafe.Pointer, collective string, model bool, lookup func(name string) uintptr) (*server, error) {
	comm, err := mpi.Attach(handle, lookup)
	if err != nil {
		return nil, err
	}
	s := &server{comm: comm, collective: collective, model: model}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, comm.Close())
	}
	return s, nil
}

// prepare is collective: it makes what the server serves with.
func (s *server) prepare() (err error) {
	// All algorithms but native broadcasts in groups, which would take a communicator per group.
	casts := &bcast.Settings{Algorithms: schedule.Algorithms()}
	reductions := &reduce.Settings{Apart: true}
	if s.comm.Rank() == 0 {
		casts.Network, err = our.load()
		casts.ModelOnly = our.model
		reductions.Network, reductions.ModelOnly = casts.Network, casts.ModelOnly
	}
	if err = known(s.comm, casts.Network, err); err != nil {
		return err
	}
	var warnings []string
	if s.collective == "" {
		if s.caster, err = bcast.New(s.comm, casts); err == nil {
			warnings = s.caster.Warnings()
		}
	} else if s.reducer, err = reduce.New(s.comm, reductions); err == nil {
		warnings = s.reducer.Warnings()
		if !s.model {
			s.note()
		}
	}
	if err != nil || !s.model || len(warnings) == 0 {
		return err
	}
	// A network that fits so badly would be timed first, which the user did not ask for.
	return errors.Join(fmt.Errorf("TOPOCAST_CHOICE=model: %s", warnings[0]), s.close())
}

func (s *server) close() error {
	if s.caster != nil {
		return s.caster.Close()
	}
	return nil
}

// note remembers on rank 0 what is decided.
func (s *server) note() {
	decisions := s.reducer.Table
	if s.caster != nil {
		decisions = s.caster.Table
	}
	if t, err := decisions(time.Now()); err == nil && t != nil {
		s.tuned = lastOf(t, s.collective)
	}
}

// decision tells whether calls of so many bytes and a root are decided to be ours, and what one gains, in s. NaN and 0: that
// is not known.
func (s *server) decision(bytes, root int) (ours bool, gain float64, decided bool) {
	if s.caster != nil {
		plan, err := s.caster.Plan(bytes, root)
		return plan.Algorithm != nil, plan.MeasuredNative - plan.Measured, err == nil
	}
	algorithm, _, decided := s.reducer.Chosen(bytes, s.target(root))
	if s.tuned != nil {
		x, _ := s.tuned.Choice(int64(bytes), root)
		gain = x.Native - x.Measured
	}
	return algorithm != "", gain, decided
}

// target is the rank that wants the result of a reduction, or reduce.AllRanks.
func (s *server) target(root int) int {
	if s.collective == table.Allreduce {
		return reduce.AllRanks
	}
	return root
}

// tpChoices stores the decisions for a class of sizes by root, where there are any, and tells whether there are.
//
//export tpChoices
func tpChoices(handle C.uintptr_t, class, roots C.int, choices *C.tp_choice) C.int {
	s := cgo.Handle(handle).Value().(*server)
	found := C.int(0)
	if class > maxClass {
		return found
	}
	for root := range unsafe.Slice(choices, roots) {
		ours, gain, decided := s.decision(1<<class, root)
		if !decided {
			continue
		}
		found = 1
		choice := C.tp_choice{variant: C.TP_NATIVE}
		if ours {
			choice.variant = C.TP_OURS
			if !math.IsNaN(gain) {
				choice.gain = C.float(gain)
			}
		}
		unsafe.Slice(choices, roots)[root] = choice
	}
	return found
}

// tpBcast is collective: it broadcasts buf, and returns TP_DONE, TP_TRUNCATED or TP_FAILED. decides is not 0 if the call
// makes a decision.
//
//export tpBcast
func tpBcast(handle C.uintptr_t, buf unsafe.Pointer, bytes C.int64_t, root, decides C.int) C.int {
	s := cgo.Handle(handle).Value().(*server)
	return s.end(s.caster.Bcast(unsafe.Slice((*byte)(buf), bytes), int(root)), decides)
}

// tpReduce is collective: it reduces values in place, and returns what tpBcast does. Without the result, values stay.
//
//export tpReduce
func tpReduce(handle C.uintptr_t, values unsafe.Pointer, count, number, operation, root, decides C.int) C.int {
	s := cgo.Handle(handle).Value().(*server)
	return s.end(reductionOf(number)(s.reducer, values, int(count), mpi.Reduction(operation), s.target(int(root))), decides)
}

// A reduction reduces numbers of a type.
type reduction func(r *reduce.Reducer, values unsafe.Pointer, count int, with mpi.Reduction, root int) error

// reductionOf returns that of the numbers that tp_number numbers.
func reductionOf(number C.int) reduction {
	return [...]reduction{
		C.TP_SIGNED: reduceAs[int8], reduceAs[int16], reduceAs[int32], reduceAs[int64],
		C.TP_UNSIGNED: reduceAs[uint8], reduceAs[uint16], reduceAs[uint32], reduceAs[uint64],
		C.TP_FLOATING + 2: reduceAs[float32], reduceAs[float64],
	}[number]
}

func reduceAs[T collective.Number](r *reduce.Reducer, values unsafe.Pointer, count int, with mpi.Reduction, root int) error {
	numbers := unsafe.Slice((*T)(values), count)
	if root == reduce.AllRanks {
		return reduce.AllreduceSlice(r, numbers, with)
	}
	return reduce.ReduceSlice(r, numbers, with, root)
}

// end is how a call has ended. What it has decided is kept.
func (s *server) end(err error, decides C.int) C.int {
	switch {
	case errors.Is(err, mpi.ErrTruncated), errors.Is(err, mpi.ErrLength):
		return C.TP_TRUNCATED
	case err != nil:
		fmt.Fprintf(os.Stderr, "topocast: %v\n", err)
		return C.TP_FAILED
	}
	if decides != 0 {
		if s.note(); s.tuned != nil { // rank 0
			our.keep(s.tuned)
		}
	}
	return C.TP_DONE
}

// tpClose is collective: it frees a server.
//
//export tpClose
func tpClose(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	s := h.Value().(*server)
	h.Delete()
	// A communicator that cannot be freed stays, as it would without this library.
	_ = errors.Join(s.close(), s.comm.Close())
}

// tpReport is called on rank 0 of MPI_COMM_WORLD when MPI_Finalize begins, with the tallies of each collective. attached is how
// many servers there have been.
//
//export tpReport
func tpReport(tallies *C.tp_tally, attached C.int) {
	r := report{Date: time.Now().UTC().Format(time.RFC3339), Network: our.path(), Comms: int(attached)}
	for i, t := range unsafe.Slice(tallies, C.TP_COLLECTIVES*C.TP_CLASSES) {
		which, class := i/C.TP_CLASSES, i%C.TP_CLASSES
		r.Of[which].add(row{1 << min(class, maxClass), counts{int64(t.calls), int64(t.ours), int64(t.bytes), float64(t.seconds), float64(t.gain)}})
		r.Of[which].Reason = our.reason(which != C.TP_BCAST)
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
