//go:build !(mpi && cgo)

package mpi

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// library is the MPI that was found when the program started. A process has one.
type library struct {
	*abi
	find  resolver
	ours  bool // we have started MPI
	sound bool // the ABI has been checked
	ended atomic.Bool
	watch sync.Once
	tc    functions
	collectives
	failed code // of watch
}

// functions are the addresses of what is called often, or from several places.
type functions struct {
	send, ssend, recv, isend, issend, irecv uintptr
	mprobe, improbe, mrecv, imrecv          uintptr
	wait, test                              uintptr
	bcast, ibcast, ibarrier                 uintptr
	setHandler, getHandler, freeHandler     uintptr
	rank, size, dup, split, free            uintptr
	abort, finalize, initialized, finalized uintptr
	initThread, createKey, setAttribute     uintptr
	libraryVersion, processorName           uintptr
	errorClass, errorString                 uintptr
	alignedMemory, freeMemory, copyMemory   uintptr
	yieldProcessor, clock, absolute         uintptr
}

// process holds the library: it is opened once, and stays.
var process struct {
	sync.Mutex
	lib *library
}

// openLibrary opens the MPI library of the launcher (see findLibrary).
func openLibrary() (*library, error) {
	process.Lock()
	defer process.Unlock()
	if process.lib != nil {
		return process.lib, nil
	}
	handlers := currentFaultHandlers()
	err := findLibrary(os.Getenv, opens, loaded, load)
	handlers.restore()
	if err != nil {
		return nil, err
	}
	l := &library{find: loaded}
	err = l.resolve()
	if err == nil {
		l.abi, err = tellABI(l.version(), l.standardABI(), l.find)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: World: %w%s", err, named(os.Getenv))
	}
	process.lib = l
	return l, nil
}

// resolve finds all functions.
func (l *library) resolve() error {
	f := &l.tc
	err := l.find.all(append([]symbol{
		{"MPI_Send", &f.send},
		{"MPI_Ssend", &f.ssend},
		{"MPI_Recv", &f.recv},
		{"MPI_Isend", &f.isend},
		{"MPI_Issend", &f.issend},
		{"MPI_Irecv", &f.irecv},
		{"MPI_Mprobe", &f.mprobe},
		{"MPI_Improbe", &f.improbe},
		{"MPI_Mrecv", &f.mrecv},
		{"MPI_Imrecv", &f.imrecv},
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
		{"MPI_Abort", &f.abort},
		{"MPI_Finalize", &f.finalize},
		{"MPI_Initialized", &f.initialized},
		{"MPI_Finalized", &f.finalized},
		{"MPI_Init_thread", &f.initThread},
		{"MPI_Comm_create_keyval", &f.createKey},
		{"MPI_Comm_set_attr", &f.setAttribute},
		{"MPI_Get_library_version", &f.libraryVersion},
		{"MPI_Get_processor_name", &f.processorName},
		{"MPI_Error_class", &f.errorClass},
		{"MPI_Error_string", &f.errorString},
		{"posix_memalign", &f.alignedMemory},
		{"free", &f.freeMemory},
		{"memcpy", &f.copyMemory},
		{"sched_yield", &f.yieldProcessor},
		{"clock_gettime", &f.clock},
		{"abs", &f.absolute},
	}, l.collectives.symbols()...))
	if err != nil {
		return fmt.Errorf("%w: it is no MPI 3, or none at all", err)
	}
	return nil
}

// run calls a function of MPI; see invoke.
//
//go:uintptrescapes
func run(function uintptr, args ...uintptr) code { return code(int32(invoke(function, args...))) }

// signed passes an int of C.
func signed(n int) uintptr { return uintptr(uint32(int32(n))) }

// flag calls a function that stores a truth.
func flag(function uintptr) bool {
	set := new(int32)
	run(function, uintptr(unsafe.Pointer(set)))
	return *set != 0
}

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

func (l *library) started() bool { return flag(l.tc.initialized) }

func (l *library) start() (level int, _ code) {
	provided := new(int32)
	failed := run(l.tc.initThread, 0, 0, threadFunneled, uintptr(unsafe.Pointer(provided)))
	if failed == codeOK {
		l.ours = true
		run(l.tc.setHandler, l.commWorld, l.errorsReturn)
	}
	return int(*provided), failed
}

// watchEnd lets ended be set before MPI takes anything down: the first thing that MPI_Finalize does
// is to delete the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1), whoever calls it.
func (l *library) watchEnd() code {
	l.watch.Do(func() {
		if flag(l.tc.finalized) {
			l.ended.Store(true)
			return
		}
		key := new(int32)
		if l.failed = run(l.tc.createKey, l.copyNothing, callback(func() { l.ended.Store(true) }), uintptr(unsafe.Pointer(key)), 0); l.failed == codeOK {
			l.failed = run(l.tc.setAttribute, l.commSelf, signed(int(*key)), 0)
		}
	})
	if l.ended.Load() {
		return codeEnded
	}
	return l.failed
}

func (l *library) world(e *endpoint) code {
	if c := l.watchEnd(); c != codeOK {
		return c
	}
	e.open(l)
	e.comm = l.commWorld
	found := l.hush(!l.ours)
	comm := new(uint64)
	c := run(l.tc.dup, l.commWorld, uintptr(unsafe.Pointer(comm)))
	l.unhush(found)
	if e.comm = uintptr(*comm); c == codeOK {
		run(l.tc.setHandler, e.comm, l.errorsReturn)
	}
	return c
}

// hush lets MPI_COMM_WORLD return its errors, if it is asked to, and unhush gives it the handler back
// that hush has found there.
func (l *library) hush(wanted bool) (found *uint64) {
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

func (l *library) unhush(found *uint64) {
	if found == nil {
		return
	}
	run(l.tc.setHandler, l.commWorld, uintptr(*found))
	run(l.tc.freeHandler, uintptr(unsafe.Pointer(found)))
}

// hushesRequests tells whether a wait has to hush the world: MPICH 4.0.2 gives errors of requests to
// the handler of MPI_COMM_WORLD, instead of that of their communicator. If MPI is ours, it returns its
// errors anyway.
func (l *library) hushesRequests() bool { return l.handleBytes == 4 && !l.ours }

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
	run(l.tc.finalize)
}

func (l *library) finalize() code { return run(l.tc.finalize) }

func (l *library) abort(status int) {
	if !flag(l.tc.finalized) {
		run(l.tc.abort, l.commWorld, signed(status))
	}
}

func (l *library) leave() { run(l.tc.abort, l.commWorld, 0) }

func (l *library) isMPICH() bool { return l.handleBytes == 4 }

func (l *library) version() string { return text(l.tc.libraryVersion) }

// standardABI is the version of the standard ABI that the library has (MPI 5.0, chapter 20), "" for
// none. MPICH's and Open MPI's libmpi_abi call themselves by the names of those with ABIs of their own.
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

func (l *library) processor() string { return text(l.tc.processorName) }

func (l *library) explain(c code) (what string, class error) {
	number := new(int32)
	run(l.tc.errorClass, signed(int(c)), uintptr(unsafe.Pointer(number)))
	class = ErrOther
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
	return text(l.tc.errorString, signed(int(c))), class
}

// overruns asks the library for its control variable (MPI 3.1, section 14.3.6).
func (l *library) overruns() bool {
	if l.abi.overruns == "" {
		return false
	}
	var f struct{ start, end, index, alloc, read, free uintptr }
	if l.find.all([]symbol{
		{"MPI_T_init_thread", &f.start},
		{"MPI_T_finalize", &f.end},
		{"MPI_T_cvar_get_index", &f.index},
		{"MPI_T_cvar_handle_alloc", &f.alloc},
		{"MPI_T_cvar_read", &f.read},
		{"MPI_T_cvar_handle_free", &f.free},
	}) != nil {
		return true
	}
	level, index, count, value, handle := new(int32), new(int32), new(int32), new(int32), new(uint64)
	if run(f.start, 0, uintptr(unsafe.Pointer(level))) != codeOK {
		return true
	}
	isOff := false
	name := append([]byte(l.abi.overruns), 0)
	if run(f.index, uintptr(unsafe.Pointer(unsafe.SliceData(name))), uintptr(unsafe.Pointer(index))) == codeOK &&
		run(f.alloc, signed(int(*index)), 0, uintptr(unsafe.Pointer(handle)), uintptr(unsafe.Pointer(count))) == codeOK {
		isOff = *count == 1 && run(f.read, uintptr(*handle), uintptr(unsafe.Pointer(value))) == codeOK && *value == l.overrunsNot
		run(f.free, uintptr(unsafe.Pointer(handle)))
	}
	run(f.end)
	return !isOff
}

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
