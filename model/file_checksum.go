package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A checksum ends the file of a network, so that a digit that has changed on its way is not taken for a time. It is of
// the text without white space, as tools that indent JSON change nothing. A file without one is read as it is: who edits
// a file by hand takes the checksum out.

// checksumKey and what follows it are the end of a file, without white space.
const checksumKey = `,"checksum":`

// checksum is that of a JSON object without white space, CRC-32C.
func checksum(object []byte) string {
	return fmt.Sprintf("crc32c:%08x", crc32.Checksum(object, crc32.MakeTable(crc32.Castagnoli)))
}

// withChecksum is a JSON object without white space, and its checksum as the last value.
func withChecksum(object []byte) []byte {
	end := fmt.Appendf(nil, "%s%q}", checksumKey, checksum(object))
	return append(object[:len(object)-1:len(object)-1], end...)
}

// verify refuses a file whose checksum is not that of the rest.
func verify(data []byte, said string) error {
	if said == "" {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return err
	}
	object, found := bytes.CutSuffix(b.Bytes(), fmt.Appendf(nil, "%s%q}", checksumKey, said))
	if found && checksum(append(object, '}')) == said {
		return nil
	}
	return fmt.Errorf("the content is not that of its checksum: the file is damaged, or was edited: delete \"checksum\": %q to read it as it is", said)
}
