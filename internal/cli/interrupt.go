package cli

import (
	"context"
	"os"
	"time"
)

// oneInterrupt is the time within which several signals are one: timeout(1) sends
// its signal to the process and to its group.
const oneInterrupt = 200 * time.Millisecond

// untilSignal returns a context that ends with the first signal, or when the
// channel is closed. It calls again at a later signal: somebody will not
// wait for what the first one has begun. Again is nil in a launched job: launchers
// may hand on one signal several times, and end the job themselves at a second.
func untilSignal(signals <-chan os.Signal, clock func() time.Time, again func()) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		if _, open := <-signals; !open {
			return
		}
		first := clock()
		cancel()
		for range signals {
			if again != nil && clock().Sub(first) > oneInterrupt {
				again()
				return
			}
		}
	}()
	return ctx
}
