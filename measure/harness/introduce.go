package harness

import (
	"bytes"

	"github.com/topocast/topocast/mpi"
)

// nameLength is what is told of a host's name, in bytes: the longest label that DNS
// has, and one more.
const nameLength = 64

// Introduce lets two ranks that meet for the first time tell each other where they
// run, so that either can name the other when it falls silent. Both call it.
func (w *Watch) Introduce(peer int) error {
	if w == nil || w.knows(peer) {
		return nil
	}
	self := ""
	if placed, ok := w.comm.(mpi.Placed); ok {
		self = placed.Place().Host
	}
	out, in := make([]byte, nameLength), make([]byte, nameLength)
	copy(out, self)
	tell := func() error { return w.comm.Send(out, peer, tagData) }
	hear := func() error { return w.comm.Recv(in, peer, tagData) }
	steps := [...]func() error{tell, hear}
	if w.comm.Rank() > peer {
		steps = [...]func() error{hear, tell}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	w.meets(w.comm.Rank(), self)
	w.meets(peer, string(bytes.TrimRight(in, "\x00")))
	return nil
}
