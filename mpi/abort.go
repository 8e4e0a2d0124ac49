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

// abort ends the job by the library's own abort, and this process in any case:
// the launchers end a job of which one rank has gone without MPI_Finalize. A
// code that a shell would take for success becomes 1.
func abort(code int, library func(code int)) {
	if code&0xff == 0 {
		code = 1
	}
	time.AfterFunc(abortLimit, func() { os.Exit(code) })
	time.Sleep(lastWords)
	library(code)
	os.Exit(code)
}
