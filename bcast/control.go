package bcast

import (
	"encoding/json"
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

// tell gives all ranks what v of rank 0 points to. If wrong is not nil on rank 0, all ranks get that error instead: rank
// 0 never fails alone while the others wait.
func (c *control) tell(v any, wrong error) error {
	var data []byte
	if c.decides() && wrong == nil {
		data, wrong = json.Marshal(v)
	}
	data, err := c.share(data, wrong)
	if err != nil || c.decides() {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("bcast: what rank 0 says: %w", err)
	}
	return nil
}

// share gives all ranks the data of rank 0, or its error.
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
func (c *control) max(values ...float64) ([]float64, error) {
	if err := c.tree.Max(values); err != nil {
		return nil, c.exec.note(fmt.Errorf("bcast: %w", err))
	}
	return values, nil
}
