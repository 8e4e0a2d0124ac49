//go:build !linux

package servet

import "unsafe"

// bind does nothing where threads cannot be bound.
func bind(int) (restore func() error, err error) { return func() error { return nil }, nil }

// allocate gets memory. Words begin at its begin.
func allocate(bytes int) (memory []byte, free func() error, err error) {
	words := make([]uint64, (bytes+7)/8)
	memory = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), bytes)
	return memory, func() error { return nil }, nil
}
