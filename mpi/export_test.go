package mpi

import "time"

// LimitFinalize sets how long Close may wait in MPI_Finalize.
func (c *Comm) LimitFinalize(limit time.Duration) { c.limit = limit }

// Yields tells whether waits of the communicator give the core away.
func (c *Comm) Yields() bool { return c.native.spin > 0 }
