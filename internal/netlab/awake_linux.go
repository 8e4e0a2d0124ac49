package netlab

import (
	"encoding/binary"
	"os"
)

// keepAwake asks the kernel that no CPU may take any time to wake up, until stop is called or the process ends. So idle
// ones look for work and do not halt. A CPU that belongs to a virtual machine goes to others when it halts, and comes back
// late. The fabric's does so in each gap between frames, and the ranks' whenever they wait. A process
// that uses up what everything else leaves would do it, too, but not where the scheduler puts sessions side by
// side (autogroup): there it has its turn as all the ranks together have theirs. Kernels that cannot wait without halting
// go on as they were: the lateness shows in the counters.
func keepAwake() (stop func()) {
	f, err := os.OpenFile("/dev/cpu_dma_latency", os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	const latency = 0 // us
	f.Write(binary.NativeEndian.AppendUint32(nil, latency))
	return func() { f.Close() }
}
