package bcast

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/topocast/topocast/mpi"
)

// decides reports whether this rank is rank 0.
func (b *Broadcaster) decides() bool { return b.control.IsRoot() }

// distribute is collective: all ranks get what v of rank 0 points to. If wrong is not nil on rank 0, all ranks get that
// error instead: rank 0 never fails alone while the others wait.
func (b *Broadcaster) distribute(v any, wrong error) error {
	var message struct {
		Value json.RawMessage `json:"v,omitempty"`
		Wrong string          `json:"w,omitempty"`
	}
	if b.decides() {
		if wrong == nil {
			message.Value, wrong = json.Marshal(v)
		}
		if wrong != nil {
			message.Wrong = wrong.Error()
		}
	}
	data, _ := json.Marshal(&message) // texts only
	data, err := b.control.TellAny(data)
	if err != nil {
		return b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	if b.decides() {
		return wrong
	}
	if err = json.Unmarshal(data, &message); err == nil && message.Wrong == "" {
		err = json.Unmarshal(message.Value, v)
	}
	if err != nil {
		return b.exec.note(fmt.Errorf("bcast: message of rank 0: %w", err))
	}
	// Callers look for mpi.ErrTag by errors.Is.
	if before, after, isTag := strings.Cut(message.Wrong, mpi.ErrTag.Error()); isTag {
		return fmt.Errorf("%s%w%s", before, mpi.ErrTag, after)
	}
	if message.Wrong != "" {
		return errors.New(message.Wrong)
	}
	return nil
}

// reduceMax is collective: all ranks get the greatest of each value.
func (b *Broadcaster) reduceMax(values ...float64) ([]float64, error) {
	if err := b.control.Max(values); err != nil {
		return nil, b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	return values, nil
}
