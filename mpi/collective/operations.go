package collective

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"

	"github.com/topocast/topocast/mpi"
)

// Number are the types that mpi.Reduction is defined for.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64
}

// Combine is the function of a reduction: it combines into with from, element by element. into is at least as long as from.
func Combine[T Number](with mpi.Reduction, into, from []T) {
	into = into[:len(from)]
	switch with {
	case mpi.Sum:
		for i, x := range from {
			into[i] += x
		}
	case mpi.Product:
		for i, x := range from {
			into[i] *= x
		}
	case mpi.Min:
		for i, x := range from {
			into[i] = min(into[i], x)
		}
	case mpi.Max:
		for i, x := range from {
			into[i] = max(into[i], x)
		}
	}
}

var errNoFunction = errors.New("the function of the reduction is nil")

func checkReduction(with mpi.Reduction) error {
	if with > mpi.Max {
		return fmt.Errorf("reduction %d: want mpi.Sum, Product, Min or Max", with)
	}
	return nil
}

// numberType is T for native reductions, which know its size.
func numberType[T Number]() reflect.Kind {
	t := reflect.TypeFor[T]()
	bySize := reflect.Kind(bits.TrailingZeros(uint(t.Size()))) // 1, 2, 4 and 8 bytes
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return t.Kind()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return reflect.Int8 + bySize
	}
	return reflect.Uint8 + bySize
}
