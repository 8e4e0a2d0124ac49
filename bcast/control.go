package bcast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// A control carries the short messages by which rank 0 tells its decisions, along a binomial tree. Its functions are
// collective. After an error of the communicator the executor is unusable.
type control struct {
	exec *executor
	tree *share.Tree
}

func newControl(exec *executor) *control {
	return &control{exec, share.Binomial(exec.comm, 0, exec.tag)}
}

// decides tells whether this rank is rank 0.
func (c *control) decides() bool { return c.tree.IsRoot() }

// share gives all ranks the data of rank 0. If wrong is not nil on rank 0, all ranks get that error instead: rank 0
// never fails alone while the others wait.
func (c *control) share(data []byte, wrong error) ([]byte, error) {
	const good, bad = 0, 1 // bad and more: an error, and of which kind it is
	kinds := []error{mpi.ErrTag, mpi.ErrRank}
	if c.decides() {
		if wrong != nil {
			kind := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(wrong, kind) })
			data = append([]byte{byte(bad + 1 + kind)}, wrong.Error()...)
		} else {
			data = append([]byte{good}, data...)
		}
	}
	data, err := c.tree.TellAny(data)
	switch {
	case err != nil:
		return nil, c.exec.note(fmt.Errorf("bcast: %w", err))
	case wrong != nil:
		return nil, wrong
	case len(data) == 0:
		return nil, c.exec.note(errors.New("bcast: rank 0 has said nothing"))
	case data[0] == good:
		return data[1:], nil
	}
	told := &toldError{text: string(data[1:])}
	if kind := int(data[0]) - bad - 1; kind >= 0 && kind < len(kinds) {
		told.kind = kinds[kind]
	}
	return nil, told
}

// A toldError is an error of rank 0 on the other ranks.
type toldError struct {
	text string
	kind error // nil: none that callers look for
}

func (t *toldError) Error() string { return t.text }
func (t *toldError) Unwrap() error { return t.kind }

// max gives all ranks the greatest of each value.
func (c *control) max(values ...int64) ([]int64, error) {
	encode := func() (buf []byte) {
		for _, v := range values {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
		}
		return buf
	}
	decode := func(buf []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(buf[8*i:])) }
	own := encode()
	err := c.tree.Collect(own, make([]byte, len(own)), func(child []byte) {
		for i := range values {
			values[i] = max(values[i], decode(child, i))
		}
		copy(own, encode())
	})
	if err == nil {
		err = c.tree.Tell(own)
	}
	if err != nil {
		return nil, c.exec.note(fmt.Errorf("bcast: %w", err))
	}
	for i := range values {
		values[i] = decode(own, i)
	}
	return values, nil
}
