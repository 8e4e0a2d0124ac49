//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// limitJob is a job (jobVar) in which one rank waits for another.
const limitJob = "limit"

// rankOfLimit waits on rank 0 in the operation that faultVar names, and stays away from it on rank 1.
func rankOfLimit() {
	err := mpi.Run(func(comm mpi.Communicator) error {
		c := comm.(*mpi.Comm)
		defer c.LimitCalls(time.Second)()
		if c.Rank() > 0 {
			time.Sleep(time.Minute)
			return nil
		}
		buf := make([]byte, 16)
		switch operation := os.Getenv(faultVar); operation {
		case "Recv":
			return c.Recv(buf, 1, 1)
		case "Allreduce":
			return c.Allreduce(buf, reflect.Float64, mpi.Sum)
		case "Gather":
			return c.Gather(buf, []int{8, 8}, buf[:8], 0)
		default:
			return fmt.Errorf("operation %q", operation)
		}
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A call that waits for longer than the limit ends the job, be it in a batch (Recv, Allreduce) or by itself (Gather).
func TestJobLimitCalls(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skipf("no %s; make test sets it", launcherVar)
	}
	for _, operation := range []string{"Recv", "Allreduce", "Gather"} {
		command := append(launcher[:len(launcher):len(launcher)], "-n", "2", os.Args[0])
		out, err := launchWithin(t, 30*time.Second, limitJob, []string{faultVar + "=" + operation}, command...)
		if err == nil || err == errHangs || !strings.Contains(out, "some rank has not answered for 1s") {
			t.Errorf("%s: the job ended with %v and said:\n%s", operation, err, out)
		}
	}
}
