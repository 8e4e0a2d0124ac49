package reduce_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/reduce"
)

// Five ranks of one process; with real MPI, mpi.Run stands for local.Run. Whichever rank has which number, the sum is the same:
// 2^53 + 2. An ordinary sum may lose each of the small numbers to the large one, in some orders.
func Example_reproducible() {
	numbers := []float64{1 << 53, 0.5, 0.25, 0.25, 1}
	for first := range numbers {
		err := local.Run(len(numbers), nil, func(comm mpi.Communicator) error {
			r, err := reduce.New(comm, &reduce.Settings{Reproducible: true})
			if err != nil {
				return err
			}
			sum := []float64{numbers[(first+comm.Rank())%len(numbers)]}
			if err := reduce.AllreduceSlice(r, sum, mpi.Sum); err != nil {
				return err
			}
			if comm.Rank() == 0 {
				fmt.Printf("%.0f\n", sum[0])
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 9007199254740994
	// 9007199254740994
	// 9007199254740994
	// 9007199254740994
	// 9007199254740994
}
