package share

import (
	"encoding/json"
	"errors"
	"fmt"
)

// TellValue gives all ranks what v of the root points to, by way of JSON. If wrong is not nil on the root, all ranks get that
// error instead: the root never leaves alone. refused is wrong on the root, and an error of the same text elsewhere. failed says
// why the ranks could not be told.
func (t *Tree) TellValue(v any, wrong error) (refused, failed error) {
	var message struct {
		Value json.RawMessage `json:"v,omitempty"`
		Wrong *string         `json:"w,omitempty"`
	}
	if t.IsRoot() {
		if wrong == nil {
			message.Value, wrong = json.Marshal(v)
		}
		if wrong != nil {
			text := wrong.Error()
			message.Wrong = &text
		}
	}
	data, _ := json.Marshal(&message) // texts only
	data, failed = t.TellAny(data)
	if failed != nil || t.IsRoot() {
		return wrong, failed
	}
	err := json.Unmarshal(data, &message)
	if err == nil && message.Wrong == nil {
		err = json.Unmarshal(message.Value, v)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("message of the root: %w", err)
	case message.Wrong != nil:
		return errors.New(*message.Wrong), nil
	}
	return nil, nil
}
