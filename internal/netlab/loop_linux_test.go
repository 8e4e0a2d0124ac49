package netlab

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStallsAreNoted: events that wait for 0.9 ms have not waited for long; of two that wait for
// the loop at once the first one has waited for as long as it was away.
func TestStallsAreNoted(t *testing.T) {
	n := newNetwork(t, twoRacks)
	f := &fabric{engine: n.engine}
	for _, step := range []struct {
		events []int64 // when they are due, ns
		now    int64
		want   int64 // ns of stalls so far
	}{
		{nil, 100, 0}, {[]int64{200}, 900_200, 0}, {[]int64{1_000_000, 3_000_000}, 6_000_000, 5_000_000}, {[]int64{6_000_000}, 8_000_000, 7_000_000},
	} {
		for _, at := range step.events {
			f.schedule(at, event{link: 0})
		}
		f.advance(step.now)
		if f.stalled != step.want {
			t.Errorf("at %d ns: stalled for %d ns, want %d", step.now, f.stalled, step.want)
		}
	}
}

// BenchmarkLoop is the forwarding rate of the loop and its system calls, with
// socket pairs in the place of TAPs: what is left out is the work of TCP.
func BenchmarkLoop(b *testing.B) {
	for _, size := range []int{66, 9014} {
		b.Run(map[int]string{66: "acknowledgements", 9014: "full"}[size], func(b *testing.B) {
			benchmarkLoop(b, size)
		})
	}
}

func benchmarkLoop(b *testing.B, size int) {
	c := cluster(b, `"spec":"tree:2x1 latency=1us rate=100GBps"`)
	e, err := newEngine(c)
	if err != nil {
		b.Fatal(err)
	}
	var taps, ends []int
	for range 2 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			b.Fatal(err)
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		taps, ends = append(taps, pair[0]), append(ends, pair[1])
	}
	f, err := newFabric(c, e, taps)
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- f.run(-1) }()
	data := make([]byte, size)
	copy(data, hardwareAddr(1))
	in := make([]byte, size)
	onTheWay := 0
	receive := func() {
		if _, err := unix.Read(ends[1], in); err == nil {
			onTheWay--
		}
	}
	for b.Loop() {
		for unix.Send(ends[0], data, 0) != nil || onTheWay > 8 {
			receive()
		}
		onTheWay++
		receive()
	}
	var got *Counters
	f.do(func() { got = f.snapshot(); f.stopped = true })
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	n := float64(got.Loop.Frames)
	b.ReportMetric(n/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(b.Elapsed().Seconds()/(n*float64(size)*8e-9), "s/Gbit")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFabric sends TCP through a real lab as fast as it goes. Busy time
// of the loop is the CPU time of the fabric, the kernels' receiving included.
func BenchmarkFabric(b *testing.B) {
	if os.Getenv(requireVariable) == "" {
		b.Skip("needs a lab: set " + requireVariable + "=1")
	}
	command := netlabCommand(b)
	s := &Settings{Dir: b.TempDir(), Command: command}
	c := cluster(b, `"name":"fast","spec":"tree:2x2 latency=1us rate=10Gbps","queues":{"back_pressure":false,"nic":{"bytes":16777216},"switch":{"bytes":16777216}}`)
	l, err := Up(c, s)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Down()
	p := newProber(l)
	defer p.close()
	if _, err := l.Reset(); err != nil {
		b.Fatal(err)
	}
	const bytes = 32 << 20
	err = p.locked(func() error {
		for b.Loop() {
			if _, err := p.transfer([]stream{{0, 2, bytes}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	got, err := l.Counters()
	if err != nil {
		b.Fatal(err)
	}
	gbit := float64(got.Links[0].Bytes) * 8e-9
	b.ReportMetric(float64(got.Loop.Frames)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(gbit/b.Elapsed().Seconds(), "Gbit/s")
	b.ReportMetric(got.Loop.Busy/gbit, "busy-s/Gbit")
}
