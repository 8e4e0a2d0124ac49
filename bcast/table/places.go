package table

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/topocast/topocast/model"
)

// Fingerprint tells jobs apart by where their ranks run: by host and core, in the order of the
// ranks. Ranks that are bound to no single core (Core -1) differ from ranks that are. O(ranks).
func Fingerprint(at []model.Location) string {
	h := fnv.New64a()
	var word []byte
	for _, where := range at {
		word = binary.AppendUvarint(word[:0], uint64(len(where.Host)))
		word = append(word, where.Host...)
		h.Write(binary.AppendVarint(word, int64(where.Core)))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
