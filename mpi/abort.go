package mpi

import (
	"os"
	"time"
)

// abortLimit is how long MPI_Abort may take; Open MPI needs about 1.3 s.
const abortLimit = 10 * time.Second

// lastWords is how long abort waits before it ends the job. MPICH's launcher kills
// the job without reading what is left in the pipes of its processes: without a
// pause the cause was lost in three of ten runs.
const lastWords = 300 * time.Millisecond

// abort ends the job by MPI_Abort, and this process in any case: the launchers
// end a job of which one rank has gone without MPI_Finalize. A status that a shell
// would take for success becomes 1. It may be called on any thread, also while end hangs.
func (l *library) abort(status int) {
	if status&0xff == 0 {
		status = 1
	}
	time.AfterFunc(abortLimit, func() { os.Exit(status) })
	time.Sleep(lastWords)
	if l.runs() {
		run(l.tc.abort, l.commWorld, signed(status))
	}
	os.Exit(status)
}
