package collective

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/topocast/topocast/mpi"
)

// Number are the types of which there are sums and the like.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64
}

// combine puts from into into, element by element.
func combine[T Number](with mpi.Reduction, into, from []T) {
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

// numberType is T for the library's own reductions.
func numberType[T Number]() mpi.NumberType {
	t := reflect.TypeFor[T]()
	switch t.Kind() {
	case reflect.Float32:
		return mpi.Float32
	case reflect.Float64:
		return mpi.Float64
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mpi.Int8 + mpi.NumberType(log2(int(t.Size())))
	}
	return mpi.Uint8 + mpi.NumberType(log2(int(t.Size())))
}
