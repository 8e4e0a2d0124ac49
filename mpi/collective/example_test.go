package collective_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/mpi/local"
)

// Every rank has a part of two vectors, and wants their dot product.
func ExampleAllreduce() {
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		x, y := []float64{1, 2}, []float64{3, 4}
		dot := []float64{x[0]*y[0] + x[1]*y[1]}
		if err := collective.Allreduce(collective.New(comm), dot, mpi.Sum); err != nil {
			return err
		}
		if comm.Rank() == 3 {
			fmt.Println(dot[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 44
}

// A Comm keeps its buffers from call to call.
func ExampleNew() {
	err := local.Run(6, nil, func(comm mpi.Communicator) error {
		c := collective.New(comm)
		slowest := []int{10 * comm.Rank()}
		for range 3 {
			if err := collective.Allreduce(c, slowest, mpi.Max); err != nil {
				return err
			}
		}
		if comm.Rank() == 0 {
			fmt.Println(slowest)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [50]
}

// The rank with the greatest residual, and the residual.
func ExampleReduceFunc() {
	type residual struct {
		Value float64
		Rank  int32
	}
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		own := []residual{{[]float64{0.1, 0.7, 0.3}[comm.Rank()], int32(comm.Rank())}}
		err := collective.ReduceFunc(collective.New(comm), own, func(into, from []residual) {
			for i, r := range from {
				if r.Value > into[i].Value {
					into[i] = r
				}
			}
		}, 0)
		if err == nil && comm.Rank() == 0 {
			fmt.Println(own)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [{0.7 1}]
}

// Rank i has i values; rank 0 gets them all.
func ExampleGatherv() {
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		own := make([]int, comm.Rank())
		for i := range own {
			own[i] = 10*comm.Rank() + i
		}
		all := make([]int, 6)
		err := collective.Gatherv(collective.New(comm), all, []int{0, 1, 2, 3}, own, 0)
		if err == nil && comm.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [10 20 21 30 31 32]
}

// Ranks on a line give their last value to the next one; the first gets none.
func ExampleSendrecv() {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		right, left := comm.Rank()+1, comm.Rank()-1 // left of 0 is collective.None
		if right == comm.Size() {
			right = collective.None
		}
		ghost := []float32{-1}
		err := collective.Sendrecv(collective.New(comm), ghost, left, []float32{float32(comm.Rank())}, right, 1)
		if err == nil && comm.Rank() == 2 {
			fmt.Println(ghost)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [1]
}

// A transposition: rank i has row i of a matrix, and gets column i.
func ExampleAlltoall() {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		i := 10 * comm.Rank()
		row, column := []int32{int32(i), int32(i + 1), int32(i + 2)}, make([]int32, 3)
		err := collective.Alltoall(collective.New(comm), column, row)
		if err == nil && comm.Rank() == 1 {
			fmt.Println(column)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [1 11 21]
}
