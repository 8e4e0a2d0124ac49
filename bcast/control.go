package bcast

import (
	"fmt"
	"strings"

	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// distribute is collective: all ranks get what v of rank 0 points to. If wrong is not nil on rank 0, all ranks get that
// error instead: rank 0 never fails alone while the others wait.
func (b *Broadcaster) distribute(base *decisions.Base, v any, wrong error) error {
	refused, failed := base.Control.TellValue(v, wrong)
	switch {
	case failed != nil:
		return b.exec.note(fmt.Errorf("bcast: %w", failed))
	case refused == nil || base.Control.IsRoot():
		return refused
	}
	// Callers look for mpi.ErrTag by errors.Is.
	if before, after, isTag := strings.Cut(refused.Error(), mpi.ErrTag.Error()); isTag {
		return fmt.Errorf("%s%w%s", before, mpi.ErrTag, after)
	}
	return refused
}
