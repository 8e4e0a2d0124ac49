package measure

import (
	"fmt"
	"io"

	"github.com/topocast/topocast/measure/record"
)

// ReadResult reads what File and a Settings.Record have written.
func ReadResult(r io.Reader) (*Result, error) {
	f, err := record.Read(r)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	return FromFile(f)
}
