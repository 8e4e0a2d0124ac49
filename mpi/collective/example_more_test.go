package collective_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/mpi/local"
)

// Complex amplitudes have no order, and so no mpi.Min, but can be added up.
func ExampleAllreduceFunc() {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		amplitude := []complex128{complex(1, float64(comm.Rank()))}
		err := collective.AllreduceFunc(collective.New(comm), amplitude, func(into, from []complex128) {
			for i, x := range from {
				into[i] += x
			}
		})
		if err == nil && comm.Rank() == 1 {
			fmt.Println(amplitude)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [(3+3i)]
}

// Each rank adds its part to a vector that all have, in place: the part is a slice of the whole.
func ExampleAllgather() {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		whole := make([]float32, 6)
		own := whole[2*comm.Rank() : 2*comm.Rank()+2]
		own[0], own[1] = float32(comm.Rank()), 0.5
		err := collective.Allgather(collective.New(comm), whole, own)
		if err == nil && comm.Rank() == 2 {
			fmt.Println(whole)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [0 0.5 1 0.5 2 0.5]
}

// A row of a matrix that is stored by columns has gaps: it is packed first. The ranks of a part of the job share it among
// themselves, on a communicator of their own.
func ExampleScatterv() {
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		odd, err := comm.(mpi.Splitter).Split(comm.Rank()%2, comm.Rank())
		if err != nil || comm.Rank()%2 == 0 {
			return err
		}
		const rows, cols = 2, 3
		matrix := []int32{1, 10, 2, 20, 3, 30} // columns of two
		row := make([]int32, 0, cols)
		for j := range cols {
			row = append(row, matrix[j*rows+1])
		}
		counts := []int{3, 0} // the second gets none
		mine := make([]int32, counts[odd.Rank()])
		err = collective.Scatterv(collective.New(odd), mine, row, counts, 0)
		if err == nil && odd.Rank() == 0 {
			fmt.Println(mine)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [10 20 30]
}
