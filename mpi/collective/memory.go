package collective

import (
	"fmt"
	"reflect"
	"unsafe"
)

// bytesOf is the memory of s.
func bytesOf[T any](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}

// valuesOf is memory from take as values.
func valuesOf[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// takeValues returns scratch memory for n values.
func takeValues[T any](c *Comm, n int) []T {
	var x T
	return valuesOf[T](c.take(n*int(unsafe.Sizeof(x))), n)
}

// sizeOf is the size of a value in bytes.
func sizeOf[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// check refuses types whose bytes mean nothing on another rank.
func check[T any](c *Comm) error {
	t := reflect.TypeFor[T]()
	if isNumber(t.Kind()) {
		return nil
	}
	plain, known := c.plain[t]
	if !known {
		plain = isPlain(t)
		if c.plain == nil {
			c.plain = make(map[reflect.Type]bool)
		}
		c.plain[t] = plain
	}
	if !plain {
		return fmt.Errorf("values of type %v: want numbers, booleans, and arrays and structs of them, without pointers", t)
	}
	return nil
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// isPlain tells whether a type holds numbers alone.
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
