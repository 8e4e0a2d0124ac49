package model

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxBcastTable bounds the section in bytes. 64 jobs of 1,024 ranks take 0.5 MB.
const maxBcastTable = 4 << 20

// checkBcastTable returns the section without blanks, as it is in a file.
func checkBcastTable(section json.RawMessage) (json.RawMessage, error) {
	if section == nil {
		return nil, nil
	}
	if len(section) > maxBcastTable {
		return nil, fmt.Errorf("table of broadcasts: %d bytes: want at most %d", len(section), maxBcastTable)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, section); err != nil {
		return nil, fmt.Errorf("table of broadcasts: %w", err)
	}
	if compact.Bytes()[0] != '{' {
		return nil, fmt.Errorf("table of broadcasts: want a JSON object")
	}
	return compact.Bytes(), nil
}
