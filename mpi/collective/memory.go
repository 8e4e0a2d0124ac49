package collective

import (
	"fmt"
	"reflect"
	"unsafe"
)

// bytesOf is the memory of s.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// sizeOf is the size of a value in bytes.
func sizeOf[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// scratchOf is scratch memory i of c for n values. It is aligned for every type, and valid until the next collective.
func scratchOf[T any](c *Comm, i, n int) []T {
	if words := n*sizeOf[T]()/8 + 1; words > len(c.scratch[i]) {
		c.scratch[i] = make([]uint64, words)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.scratch[i]))), n)
}

// checkType refuses types whose bytes mean nothing on another rank.
func checkType[T any](c *Comm) error {
	t := reflect.TypeFor[T]()
	if isNumber(t.Kind()) {
		return nil
	}
	plain, known := c.plain[t]
	if !known {
		plain = isPlain(t)
		c.plain[t] = plain
	}
	if !plain {
		return fmt.Errorf("values of type %v: want numbers, booleans, and arrays and structs of them, without pointers", t)
	}
	return nil
}

// isNumber tells whether a kind is a number or a boolean.
func isNumber(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// isPlain tells whether a type consists of numbers and booleans.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return isNumber(t.Kind())
}
