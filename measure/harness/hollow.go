package harness

import "github.com/topocast/topocast/mpi"

// IsHollow tells whether messages of so many bytes carry no content, as long ones of simulated ranks: what is in their
// buffers does not matter then.
func IsHollow(comm mpi.Communicator, bytes int64) bool {
	c, ok := comm.(interface{ IsHollow(bytes int64) bool })
	return ok && c.IsHollow(bytes)
}
