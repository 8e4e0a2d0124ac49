package bcast

import (
	"encoding/json"
	"errors"
	"fmt"

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
	var message struct {
		Value json.RawMessage `json:"v,omitempty"`
		Wrong string          `json:"w,omitempty"`
		IsTag bool            `json:"t,omitempty"` // wrong is mpi.ErrTag, which callers look for
	}
	if c.decides() {
		if wrong == nil {
			message.Value, wrong = json.Marshal(v)
		}
		if wrong != nil {
			message.Wrong, message.IsTag = wrong.Error(), errors.Is(wrong, mpi.ErrTag)
		}
	}
	data, _ := json.Marshal(&message) // texts only
	data, err := c.tree.TellAny(data)
	if err != nil {
		return c.exec.note(fmt.Errorf("bcast: %w", err))
	}
	if c.decides() {
		return wrong
	}
	if err = json.Unmarshal(data, &message); err == nil && message.Wrong == "" {
		err = json.Unmarshal(message.Value, v)
	}
	switch {
	case err != nil:
		return c.exec.note(fmt.Errorf("bcast: what rank 0 says: %w", err))
	case message.IsTag:
		return &tagError{message.Wrong}
	case message.Wrong != "":
		return errors.New(message.Wrong)
	}
	return nil
}

// A tagError is an mpi.ErrTag of rank 0 on the other ranks.
type tagError struct{ text string }

func (t *tagError) Error() string { return t.text }
func (t *tagError) Unwrap() error { return mpi.ErrTag }

// max gives all ranks the greatest of each value.
func (c *control) max(values ...float64) ([]float64, error) {
	if err := c.tree.Max(values); err != nil {
		return nil, c.exec.note(fmt.Errorf("bcast: %w", err))
	}
	return values, nil
}
