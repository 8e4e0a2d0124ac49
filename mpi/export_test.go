package mpi

// Yields tells whether waits of the communicator give the core away.
func (c *Comm) Yields() bool { return c.native.spin > 0 }
