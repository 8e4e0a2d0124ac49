package reduce

import (
	"encoding/json"
	"errors"

	"github.com/topocast/topocast/internal/share"
)

// tell is collective: it gives all ranks what v of rank 0 points to. If wrong is not nil on rank 0, all ranks get that error
// instead.
func tell(tree *share.Tree, v any, wrong error) error {
	refused, err := tree.Agree(wrong)
	if err = errors.Join(refused, err); err != nil {
		return err
	}
	var data []byte
	if tree.IsRoot() {
		if data, err = json.Marshal(v); err != nil {
			return err // a bug: it is plain data
		}
	}
	if data, err = tree.TellAny(data); err != nil || tree.IsRoot() {
		return err
	}
	return json.Unmarshal(data, v)
}
