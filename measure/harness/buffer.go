package harness

import "github.com/topocast/topocast/mpi"

// Hollow returns memory for messages of so many bytes if they carry no content, as long ones of simulated ranks; else nil. It is the
// same memory for all ranks, and what is in it does not matter.
func Hollow(comm mpi.Communicator, bytes int) []byte {
	if c, ok := comm.(interface{ Hollow(bytes int) []byte }); ok {
		return c.Hollow(bytes)
	}
	return nil
}
