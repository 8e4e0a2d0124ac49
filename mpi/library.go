package mpi

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// library is the MPI library of the process, which is found when the program starts.
type library struct {
	*abi
	find    resolver
	isMPICH bool // MPICH or a library derived from it, whichever ABI it has
	ours    bool // World has started MPI
	sound   bool // checkABI has passed
	ended   atomic.Bool
	tc      functions
	collectives

	endWatch sync.Once
	endCode  code       // of watchEnd
	watch    *callWatch // of LimitCalls; nil: none
}

// functions are the addresses of C functions that are called often, or from several places.
type functions struct {
	send, ssend, recv, isend, issend, irecv uintptr
	wait, test                              uintptr
	bcast, ibcast, ibarrier                 uintptr
	setHandler, getHandler, freeHandler     uintptr
	rank, size, dup, split, free            uintptr
	group, freeGroup, create                uintptr
	abort, finalize, initialized, finalized uintptr
	initThread, queryThread, isMainThread   uintptr
	createKey, setAttribute                 uintptr
	libraryVersion, processorName           uintptr
	errorClass, errorString                 uintptr
	alignedMemory, freeMemory               uintptr
	yieldProcessor, clock, absolute         uintptr
}

// process holds the library: it is opened once, and stays.
var process struct {
	sync.Mutex
	lib *library
}

// openLibrary opens the MPI library of the launcher (see findLibrary). If find is not nil, the library is open
// already, find finds its functions, and the caller knows when it ends.
func openLibrary(find resolver) (*library, error) {
	process.Lock()
	defer process.Unlock()
	if process.lib != nil {
		return process.lib, nil
	}
	l := &library{find: find}
	if find != nil {
		l.endWatch.Do(func() {})
	} else {
		l.find = loaded
		handlers := currentFaultHandlers()
		err := findLibrary(os.Getenv, opens, loaded, load)
		handlers.restore()
		if err != nil {
			return nil, err
		}
	}
	err := l.find.all(l.symbols())
	if err != nil {
		err = fmt.Errorf("%w: it is no MPI 3, or none at all", err)
	} else {
		version := l.version()
		l.isMPICH = isKinOfMPICH(version)
		l.abi, err = chooseABI(version, l.standardABI(), l.find)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: World: %w%s", err, named(os.Getenv))
	}
	process.lib = l
	return l, nil
}

// symbols are the names of all functions that are called.
func (l *library) symbols() []symbol {
	f := &l.tc
	return append([]symbol{
		{"MPI_Send", &f.send},
		{"MPI_Ssend", &f.ssend},
		{"MPI_Recv", &f.recv},
		{"MPI_Isend", &f.isend},
		{"MPI_Issend", &f.issend},
		{"MPI_Irecv", &f.irecv},
		{"MPI_Wait", &f.wait},
		{"MPI_Test", &f.test},
		{"MPI_Bcast", &f.bcast},
		{"MPI_Ibcast", &f.ibcast},
		{"MPI_Ibarrier", &f.ibarrier},
		{"MPI_Comm_set_errhandler", &f.setHandler},
		{"MPI_Comm_get_errhandler", &f.getHandler},
		{"MPI_Errhandler_free", &f.freeHandler},
		{"MPI_Comm_rank", &f.rank},
		{"MPI_Comm_size", &f.size},
		{"MPI_Comm_dup", &f.dup},
		{"MPI_Comm_split", &f.split},
		{"MPI_Comm_free", &f.free},
		{"MPI_Comm_group", &f.group},
		{"MPI_Group_free", &f.freeGroup},
		{"MPI_Comm_create", &f.create},
		{"MPI_Abort", &f.abort},
		{"MPI_Finalize", &f.finalize},
		{"MPI_Initialized", &f.initialized},
		{"MPI_Finalized", &f.finalized},
		{"MPI_Init_thread", &f.initThread},
		{"MPI_Query_thread", &f.queryThread},
		{"MPI_Is_thread_main", &f.isMainThread},
		{"MPI_Comm_create_keyval", &f.createKey},
		{"MPI_Comm_set_attr", &f.setAttribute},
		{"MPI_Get_library_version", &f.libraryVersion},
		{"MPI_Get_processor_name", &f.processorName},
		{"MPI_Error_class", &f.errorClass},
		{"MPI_Error_string", &f.errorString},
		{"posix_memalign", &f.alignedMemory},
		{"free", &f.freeMemory},
		{"sched_yield", &f.yieldProcessor},
		{"clock_gettime", &f.clock},
		{"abs", &f.absolute},
	}, l.collectives.symbols()...)
}

// nameOf returns the name of a function.
func (l *library) nameOf(function uintptr) string {
	for _, s := range l.symbols() {
		if *s.address == function {
			return s.name
		}
	}
	return "MPI"
}

// run calls a function of MPI; see invoke.
//
//go:uintptrescapes
func run(function uintptr, args ...uintptr) code { return code(int32(invoke(function, args...))) }

// signed passes an int of C.
func signed(n int) uintptr { return uintptr(uint32(int32(n))) }

// stored calls a function that stores an int.
func stored(function uintptr) int32 {
	value := new(int32)
	run(function, uintptr(unsafe.Pointer(value)))
	return *value
}

// flag calls a function that stores a truth.
func flag(function uintptr) bool { return stored(function) != 0 }

// text calls a function that stores a text and its length, after another argument.
func text(function uintptr, first ...uintptr) string {
	room, n := make([]byte, textRoom), new(int32)
	if len(first) == 0 {
		run(function, uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(unsafe.Pointer(n)))
	} else {
		run(function, first[0], uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(unsafe.Pointer(n)))
	}
	return string(room[:min(max(*n, 0), textRoom)])
}

// start starts MPI at MPI_THREAD_FUNNELED, and returns the level that it has.
func (l *library) start() (level int, _ code) {
	provided := new(int32)
	failed := run(l.tc.initThread, 0, 0, uintptr(l.threadFunneled), uintptr(unsafe.Pointer(provided)))
	if failed == codeOK {
		l.ours = true
		run(l.tc.setHandler, l.commWorld, l.errorsReturn)
	}
	return int(*provided), failed
}

// checkThread tells whether this thread may call an MPI that somebody else has started.
func (l *library) checkThread() error {
	switch level := int(stored(l.tc.queryThread)); {
	case level < l.threadFunneled:
		return fmt.Errorf("%w: MPI was started below MPI_THREAD_FUNNELED, which a Go program needs: start it by MPI_Init_thread (gompi.Start(true))", ErrOther)
	case level == l.threadFunneled && !flag(l.tc.isMainThread):
		return fmt.Errorf("%w: MPI was started by another thread, and its level is MPI_THREAD_FUNNELED: call World from the goroutine that has started MPI, locked to its thread", ErrOther)
	}
	return nil
}

// watchEnd sets ended before MPI takes anything down. The first thing that MPI_Finalize does, whoever calls
// it, is to delete the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1).
func (l *library) watchEnd() code {
	l.endWatch.Do(func() {
		if flag(l.tc.finalized) {
			l.ended.Store(true)
			return
		}
		key := new(int32)
		if l.endCode = run(l.tc.createKey, l.copyNothing, callback(func() { l.ended.Store(true) }), uintptr(unsafe.Pointer(key)), 0); l.endCode == codeOK {
			l.endCode = run(l.tc.setAttribute, l.commSelf, signed(int(*key)), 0)
		}
	})
	if l.ended.Load() {
		return codeEnded
	}
	return l.endCode
}

// world is collective: it makes e a duplicate of MPI_COMM_WORLD.
func (l *library) world(e *endpoint) code {
	if c := l.watchEnd(); c != codeOK {
		return c
	}
	e.open(l)
	found := l.returnErrors(!l.ours)
	comm := new(uint64)
	c := run(l.tc.dup, l.commWorld, uintptr(unsafe.Pointer(comm)))
	l.restoreHandler(found)
	if e.comm = uintptr(*comm); c == codeOK {
		run(l.tc.setHandler, e.comm, l.errorsReturn)
	}
	return c
}

// attach is collective: it makes e a communicator of the ranks of another one, in the same order. Unlike
// MPI_Comm_dup it does not run the copy functions of attributes. The error handler of the other communicator
// may end the job, where a failure only means that there is no communicator: it is replaced meanwhile.
func (l *library) attach(e *endpoint, other uintptr) code {
	if c := l.watchEnd(); c != codeOK {
		return c
	}
	e.open(l)
	handler, group, comm := new(uint64), new(uint64), new(uint64)
	if c := run(l.tc.getHandler, other, uintptr(unsafe.Pointer(handler))); c != codeOK {
		return c
	}
	run(l.tc.setHandler, other, l.errorsReturn)
	c := run(l.tc.group, other, uintptr(unsafe.Pointer(group)))
	if c == codeOK {
		c = run(l.tc.create, other, uintptr(*group), uintptr(unsafe.Pointer(comm)))
		run(l.tc.freeGroup, uintptr(unsafe.Pointer(group)))
	}
	run(l.tc.setHandler, other, uintptr(*handler))
	run(l.tc.freeHandler, uintptr(unsafe.Pointer(handler)))
	if e.comm = uintptr(*comm); c == codeOK {
		run(l.tc.setHandler, e.comm, l.errorsReturn)
	}
	return c
}

// returnErrors lets MPI_COMM_WORLD return its errors, if that is wanted. restoreHandler gives it back the
// handler that was found.
func (l *library) returnErrors(wanted bool) (found *uint64) {
	if !wanted {
		return nil
	}
	found = new(uint64)
	if run(l.tc.getHandler, l.commWorld, uintptr(unsafe.Pointer(found))) != codeOK {
		return nil
	}
	run(l.tc.setHandler, l.commWorld, l.errorsReturn)
	return found
}

func (l *library) restoreHandler(found *uint64) {
	if found == nil {
		return
	}
	run(l.tc.setHandler, l.commWorld, uintptr(*found))
	run(l.tc.freeHandler, uintptr(unsafe.Pointer(found)))
}

// errorsOfRequests tells whether the handler of MPI_COMM_WORLD gets the errors of requests, as in MPICH 4.0.2,
// and belongs to somebody else. Waits then have to replace it.
func (l *library) errorsOfRequests() bool { return l.isMPICH && !l.ours }

// giveUp ends MPI if the other ranks give up, too, within giveUpLimit.
func (l *library) giveUp() {
	if l.ended.Load() {
		return
	}
	r, done := new(request), new(int32)
	if run(l.tc.ibarrier, l.commWorld, uintptr(unsafe.Pointer(r))) != codeOK {
		return
	}
	status := make([]byte, statusRoom)
	for start := time.Now(); *done == 0; l.yield() {
		c := run(l.tc.test, uintptr(unsafe.Pointer(r)), uintptr(unsafe.Pointer(done)), uintptr(unsafe.Pointer(unsafe.SliceData(status))))
		if c != codeOK || time.Since(start) > giveUpLimit {
			return
		}
	}
	l.end()
}

// end finalises MPI, and tells MPICH's launcher that this process ends (see pmiSocket).
func (l *library) end() code {
	var launcher *pmiSocket
	if l.isMPICH {
		launcher = launcherSocket(os.Getenv)
	}
	c := run(l.tc.finalize)
	launcher.finalize()
	return c
}

// runs tells whether MPI has started and has not ended.
func (l *library) runs() bool { return flag(l.tc.initialized) && !flag(l.tc.finalized) }

// version is the library's text about itself, all lines.
func (l *library) version() string { return text(l.tc.libraryVersion) }

// standardABI is the version of the standard ABI that the library has (MPI 5.0, chapter 20), "" for
// none. The libraries libmpi_abi of MPICH and Open MPI call themselves by the names of those with ABIs of
// their own, which answer -1.
func (l *library) standardABI() string {
	ask := l.find("MPI_Abi_get_version")
	if ask == 0 {
		return ""
	}
	major, minor := new(int32), new(int32)
	*major = -1
	if run(ask, uintptr(unsafe.Pointer(major)), uintptr(unsafe.Pointer(minor))) != codeOK || *major < 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", *major, *minor)
}

// classError tells the class of an error code by the sentinels of this
// package. Codes, and the numbers of the classes, differ between libraries.
func (l *library) classError(failed code) error {
	if failed == codeEnded {
		return ErrClosed
	}
	number, class := new(int32), ErrOther
	run(l.tc.errorClass, signed(int(failed)), uintptr(unsafe.Pointer(number)))
	switch *number {
	case l.errRank, l.errRoot:
		class = ErrRank
	case l.errTag:
		class = ErrTag
	case l.errCount:
		class = ErrCount
	case l.errTruncate:
		class = ErrTruncated
	}
	// MPICH's texts are stacks of several lines.
	return fmt.Errorf("%w: %s", class, strings.Join(strings.Fields(text(l.tc.errorString, signed(int(failed)))), " "))
}

// pages returns n bytes of C's memory that have been touched; nil if there is not enough.
func (l *library) pages(n int) unsafe.Pointer {
	const page = 4096
	p := new(unsafe.Pointer)
	if run(l.tc.alignedMemory, uintptr(unsafe.Pointer(p)), page, uintptr(n)) != codeOK {
		return nil
	}
	all := unsafe.Slice((*byte)(*p), n)
	for i := range all {
		all[i] = 1
	}
	return *p
}

func (l *library) free(pages unsafe.Pointer) { run(l.tc.freeMemory, uintptr(pages)) }

func (l *library) yield() { run(l.tc.yieldProcessor) }
