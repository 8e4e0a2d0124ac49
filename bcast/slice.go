package bcast

import "unsafe"

// Number is what BcastSlice sends: values without pointers, whose bytes mean
// the same on all ranks of a homogeneous machine.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// BcastSlice is collective: it copies s of rank root into s of all ranks, as
// Bcast does, without a copy in between.
func BcastSlice[T Number](b *Broadcaster, s []T, root int) error {
	return b.Bcast(bytesOf(s), root)
}

// bytesOf is the memory of s.
func bytesOf[T Number](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}
