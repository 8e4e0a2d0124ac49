package share

import (
	"errors"
	"slices"
)

// Tell copies buf of the root to all ranks. len(buf) is equal on all of them; 0 bytes
// send nothing.
func (t *Tree) Tell(buf []byte) error {
	const errand = "tell"
	for len(buf) > 0 {
		piece := buf[:min(len(buf), t.piece)]
		if !t.IsRoot() {
			if err := t.receive(errand, piece, t.parent); err != nil {
				return err
			}
		}
		if err := t.forward(errand, piece); err != nil {
			return err
		}
		buf = buf[len(piece):]
	}
	return nil
}

// TellAny returns the root's data on all ranks. Only the root knows how long they are, and
// what the others give does not count. On the root it is data itself.
func (t *Tree) TellAny(data []byte) ([]byte, error) {
	const errand = "tell"
	head, length := header(len(data)), len(data)
	if !t.IsRoot() {
		data = nil
		var err error
		if length, err = t.receiveLength(errand, head, t.parent); err != nil {
			return nil, err
		}
	}
	for told := 0; head != nil || told < length; head = nil {
		if !t.IsRoot() && told < length {
			var err error
			if data, err = t.receiveMore(errand, data, length, t.parent); err != nil {
				return nil, err
			}
		}
		piece := data[told:min(told+t.piece, length)]
		if err := t.forward(errand, head, piece); err != nil {
			return nil, err
		}
		told += len(piece)
	}
	return data, nil
}

// forward sends the children messages, but for empty ones.
func (t *Tree) forward(errand string, messages ...[]byte) error {
	for _, b := range slices.Backward(t.branches) { // who has most to tell is told first
		for _, m := range messages {
			if len(m) == 0 {
				continue
			}
			if err := t.send(errand, m, b.child); err != nil {
				return err
			}
		}
	}
	return nil
}

// Agree makes an error of the root one of all ranks, so that all of them leave: refused is
// the root's err on the root, one of the same text elsewhere, and nil on all ranks if it is
// nil. The err of other ranks does not count. failed says why the ranks could not be told.
func (t *Tree) Agree(err error) (refused, failed error) {
	text := ""
	if t.IsRoot() && err != nil {
		if text = err.Error(); text == "" {
			text = "an error without words" // but one
		}
	}
	told, failed := t.TellAny([]byte(text))
	switch {
	case t.IsRoot():
		return err, failed
	case len(told) > 0:
		return errors.New(string(told)), nil
	}
	return nil, failed
}
