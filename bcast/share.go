package bcast

import (
	"fmt"

	"github.com/topocast/topocast/internal/share"
)

// A crew is the ranks of an executor on small errands: to tell all what one
// knows, and to collect at one what all know. After an error of theirs the
// executor is unusable. All of its functions but isRoot are collective.
type crew struct {
	exec *executor
	root int
	tree *share.Tree
}

func newCrew(exec *executor, root int) *crew {
	return &crew{exec, root, share.Binomial(exec.comm, root, exec.tag)}
}

// isRoot tells whether this rank is the root.
func (c *crew) isRoot() bool { return c.tree.IsRoot() }

// tell copies buf of the root to all ranks.
func (c *crew) tell(buf []byte) error { return c.noted(c.tree.Tell(buf)) }

// tellAny tells bytes of which only the root knows how many they are.
func (c *crew) tellAny(buf []byte) ([]byte, error) {
	told, err := c.tree.TellAny(buf)
	return told, c.noted(err)
}

// collect hands buf from the leaves to the root. merge takes the buffer of a
// child into the rank's own before that goes on.
func (c *crew) collect(buf, scratch []byte, merge func(child []byte)) error {
	return c.noted(c.tree.Collect(buf, scratch, merge))
}

// noted is the error of an errand, if there is one, as one of the package.
func (c *crew) noted(err error) error {
	if err == nil {
		return nil
	}
	return c.exec.note(fmt.Errorf("bcast: %w", err))
}
