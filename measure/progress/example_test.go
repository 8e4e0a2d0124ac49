package progress_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A bar on a terminal, lines in a batch log; what is done at once, as here, is
// not worth a line.
func Example() {
	err := local.Run(4, nil, func(c mpi.Communicator) error {
		var settings measure.Settings
		if c.Rank() == 0 {
			shown := progress.New(os.Stdout, "measuring")
			defer shown.Close()
			settings.Progress = shown.Show
		}
		_, err := measure.Run(context.Background(), c, &settings)
		return err
	})
	fmt.Println("measured:", err == nil)
	// Output: measured: true
}

// What stands in a log of a longer one.
func ExamplePrinter_Show() {
	shown := progress.New(os.Stdout, "measuring")
	defer shown.Close()
	for done := range 4 {
		elapsed := time.Duration(done) * 4 * time.Second
		shown.Show(measure.Progress{Units: "rounds", Done: done, Total: 3, Elapsed: elapsed, Remaining: 12*time.Second - elapsed})
	}
	// Output:
	// measuring: 2 of 3 rounds, 8s, about 4s left
	// measuring: 3 of 3 rounds, 12s
}
