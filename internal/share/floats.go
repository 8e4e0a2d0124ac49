package share

import (
	"encoding/binary"
	"math"
)

// TellFloats is collective: all ranks get the values of the root.
func (t *Tree) TellFloats(values []float64) error {
	buf := AppendFloats(nil, values)
	if err := t.Tell(buf); err != nil {
		return err
	}
	for i := range values {
		values[i] = float(buf, i)
	}
	return nil
}

// CollectMax is collective: the root gets the greatest of each value.
func (t *Tree) CollectMax(values []float64) error {
	own := AppendFloats(nil, values)
	return t.Collect(own, make([]byte, len(own)), func(child []byte) {
		for i := range values {
			values[i] = max(values[i], float(child, i))
		}
		AppendFloats(own[:0], values)
	})
}

// Max is collective: all ranks get the greatest of each value.
func (t *Tree) Max(values []float64) error {
	if err := t.CollectMax(values); err != nil {
		return err
	}
	return t.TellFloats(values)
}

// AppendFloats appends the bytes of values.
func AppendFloats(dst []byte, values []float64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// Floats are the values whose bytes AppendFloats has appended to nothing.
func Floats(buf []byte) []float64 {
	values := make([]float64, len(buf)/8)
	for i := range values {
		values[i] = float(buf, i)
	}
	return values
}

func float(buf []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
}
