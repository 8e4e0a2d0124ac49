package netlab

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// cluster decodes a cluster of the given fields.
func cluster(t testing.TB, fields string) *Cluster {
	t.Helper()
	c, err := DecodeCluster(strings.NewReader(`{"format":"topocast/netlab","version":1,`+fields+`}`), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An arrival is a frame that has come to its host.
type arrival struct {
	src, dst, n int
	flow        uint32
	due         int64
}

// A network is an engine whose arrivals are kept.
type network struct {
	*engine
	arrived []arrival
	dropped int
}

func newNetwork(t testing.TB, fields string) *network {
	t.Helper()
	e, err := newEngine(cluster(t, fields))
	if err != nil {
		t.Fatal(err)
	}
	n := &network{engine: e}
	e.deliver = func(f *frame, due int64) {
		n.arrived = append(n.arrived, arrival{f.src, f.dst, f.n, f.flow, due})
	}
	e.drop = func(*frame) { n.dropped++ }
	return n
}

func (n *network) send(at int64, src, dst, size int, flow uint32) {
	n.run(at)
	n.inject(at, &frame{buf: make([]byte, size), n: size, src: src, dst: dst, flow: flow})
}

func (n *network) finish() { n.run(math.MaxInt64) }

// Two racks of two hosts: 8 ns per byte on the uplinks, 4 ns on the hosts'
// links; delays of 200 us and 50 us.
const twoRacks = `"spec":"tree:2x2 latency=200us,50us rate=125MBps,250MBps"`

func TestFramesTakeDelaysAndOneSerialisation(t *testing.T) {
	const us = 1000
	tests := []struct {
		name, fields string
		src, dst     int
		want         int64 // of a frame of 1,000 bytes
	}{
		// 50 + 50 us, and 1,000 bytes at 4 ns.
		{"inside a rack", twoRacks, 0, 1, 100*us + 4*us},
		// 50 + 200 + 200 + 50 us, and 1,000 bytes at the slowest rate, 8 ns.
		{"between racks", twoRacks, 0, 2, 500*us + 8*us},
		// The same with 4 + 8 + 8 + 4 us of serialisation.
		{"between racks, stored and forwarded", twoRacks + `,"switching":"store-and-forward"`, 0, 2, 500*us + 24*us},
		{"inside a rack, stored and forwarded", twoRacks + `,"switching":"store-and-forward"`, 3, 2, 100*us + 8*us},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNetwork(t, tt.fields)
			n.send(7, tt.src, tt.dst, 1000, 0)
			n.finish()
			if len(n.arrived) != 1 || n.arrived[0].due != 7+tt.want {
				t.Errorf("arrivals of a frame sent at 7 = %v, want one at %d", n.arrived, 7+tt.want)
			}
		})
	}
}

func TestALinkSendsAtItsRate(t *testing.T) {
	// 100 frames of 1,000 bytes at once: the uplink of 8 ns per byte lets one
	// pass every 8 us, in the order of sending.
	n := newNetwork(t, twoRacks)
	for range 100 {
		n.send(0, 0, 2, 1000, 5)
	}
	n.finish()
	for i, a := range n.arrived {
		if want := int64(500_000 + 8_000*(i+1)); a.due != want {
			t.Fatalf("frame %d arrives at %d, want %d", i, a.due, want)
		}
	}
	if len(n.arrived) != 100 {
		t.Errorf("%d frames arrive, want 100", len(n.arrived))
	}
}

func TestDirectionsDoNotDisturbEachOther(t *testing.T) {
	alone, both := newNetwork(t, twoRacks), newNetwork(t, twoRacks)
	for i := range 50 {
		at := int64(i) * 1000
		alone.send(at, 0, 2, 1000, 1)
		both.send(at, 0, 2, 1000, 1)
		both.send(at, 2, 0, 1000, 2)
	}
	alone.finish()
	both.finish()
	forward := slices.DeleteFunc(both.arrived, func(a arrival) bool { return a.src != 0 })
	if !slices.Equal(forward, alone.arrived) {
		t.Error("frames from host 0 arrive at other times when host 2 sends too")
	}
}

func TestFairQueuesServeConnectionsInTurn(t *testing.T) {
	// Host 0 sends 60 frames of 1,000 bytes at 0, which reach the switch from
	// 50 us on, one every 4 us, and the uplink takes one every 8 us. Host 1
	// sends 10 of 500 bytes at 240 us, which come there at 290 us, when 30 of
	// the 60 have left. Served by turns of 1,000 bytes the ten, which are five
	// turns, let five more pass, and one or two that are chosen before the
	// others are there; FIFO lets all 60.
	passed := func(discipline string) int {
		n := newNetwork(t, twoRacks+`,"mtu":986,"queues":{"switch":{"discipline":"`+discipline+`"}}`)
		for range 60 {
			n.send(0, 0, 2, 1000, 1)
		}
		for range 10 {
			n.send(240_000, 1, 2, 500, 2)
		}
		n.finish()
		count, before := 0, 0
		for _, a := range n.arrived {
			if a.src == 0 {
				count++
			} else {
				before = count
			}
		}
		return before
	}
	if got := passed("fair"); got < 35 || got > 37 {
		t.Errorf("fair: %d frames of the long queue pass before the last of the short one, want 35 to 37", got)
	}
	if got := passed("fifo"); got != 60 {
		t.Errorf("fifo: %d frames of the long queue pass before the last of the short one, want 60", got)
	}
}

func TestQueuesAreBounded(t *testing.T) {
	// Two hosts send 40 frames at once into the uplink of half their rate, which
	// holds 10 frames: what leaves, waits or is on the wire is kept.
	for _, discipline := range []string{"fair", "fifo"} {
		n := newNetwork(t, twoRacks+`,"mtu":986,"queues":{"switch":{"discipline":"`+discipline+`","bytes":10000,"ecn_bytes":0}}`)
		for range 40 {
			n.send(0, 0, 2, 1000, 1)
			n.send(0, 1, 2, 1000, 2)
		}
		n.finish()
		drops, peak := uint64(0), uint64(0)
		for _, c := range n.counters() {
			drops += c.Drops
			if c.From == "s1" && c.To == "s0" {
				peak = c.QueuePeak
			}
		}
		if n.dropped == 0 || uint64(n.dropped) != drops {
			t.Errorf("%s: %d frames dropped, %d counted, want equal and some", discipline, n.dropped, drops)
		}
		if len(n.arrived)+n.dropped != 80 {
			t.Errorf("%s: %d arrive and %d are dropped of 80", discipline, len(n.arrived), n.dropped)
		}
		if peak != 10000 {
			t.Errorf("%s: peak %d bytes, want the bound of 10000", discipline, peak)
		}
	}
}

// Frames are neither lost nor doubled, keep their order per connection, and no
// link carries more than its rate: random traffic on random trees.
func TestRandomTrafficIsConserved(t *testing.T) {
	specs := []string{
		`"spec":"star:8 rate=10MBps"`,
		`"spec":"tree:2x2x3 latency=300us,100us,20us rate=5MBps,10MBps,20MBps"`,
		`"spec":"tree:[2,5,5] latency=100us,10us rate=5MBps,20MBps"`,
		`"spec":"ring:6 hosts=2 rate=10MBps routing=ecmp","cycles":true`,
		`"spec":"torus:3x3 rate=10MBps","cycles":true,"switching":"store-and-forward"`,
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		discipline := []string{"fair", "fifo"}[seed%2]
		n := newNetwork(t, specs[int(seed)%len(specs)]+`,"queues":{"nic":{"discipline":"`+discipline+`"},"switch":{"discipline":"`+discipline+`"}}`)
		at, sent := int64(0), 0
		type key struct {
			src, dst int
			flow     uint32
		}
		order := map[key][]int{}
		for range 2000 {
			at += rng.Int64N(20_000)
			src, dst := rng.IntN(n.hosts), rng.IntN(n.hosts)
			if src == dst {
				continue
			}
			size, flow := 60+rng.IntN(8000), uint32(rng.IntN(3))
			n.send(at, src, dst, size, flow)
			order[key{src, dst, flow}] = append(order[key{src, dst, flow}], size)
			sent++
		}
		n.finish()
		if len(n.arrived)+n.dropped != sent {
			t.Fatalf("seed %d: %d arrive and %d are dropped of %d", seed, len(n.arrived), n.dropped, sent)
		}
		if n.dropped > 0 {
			t.Fatalf("seed %d: %d dropped; the traffic is meant to fit", seed, n.dropped)
		}
		for _, a := range n.arrived {
			k := key{a.src, a.dst, a.flow}
			if order[k][0] != a.n {
				t.Fatalf("seed %d: connection %v: frame of %d bytes arrives, want the one of %d", seed, k, a.n, order[k][0])
			}
			order[k] = order[k][1:]
		}
		end := n.arrived[len(n.arrived)-1].due
		for i, c := range n.counters() {
			if busy := float64(c.Bytes) * n.links[i].perByte; busy > float64(end) {
				t.Errorf("seed %d: %s to %s was busy for %g ns of %d", seed, c.From, c.To, busy, end)
			}
		}
	}
}

func TestTheSameTrafficGivesTheSameTimes(t *testing.T) {
	once := func() []arrival {
		n := newNetwork(t, twoRacks+`,"jitter":{"seed":3,"mean_s":1e-5,"outlier_probability":0.01,"outlier_s":1e-3}`)
		for i := range 500 {
			n.send(int64(i)*3000, i%4, (i+1+i/4%3)%4, 200+i, uint32(i))
		}
		n.finish()
		return n.arrived
	}
	if a, b := once(), once(); !slices.Equal(a, b) {
		t.Error("two runs differ")
	}
}

func TestJitterKeepsOrderAndMean(t *testing.T) {
	j := newJitter(Jitter{Seed: 1, Mean: 20e-6, OutlierProbability: 0.01, Outlier: 1e-3}, 2)
	const n = 20000
	sum, last := 0.0, int64(0)
	for i := range n {
		at := int64(i) * 10_000_000 // far apart, so that order costs nothing
		got := j.delay(1, at)
		if got < last || got < at {
			t.Fatalf("frame %d due at %d arrives at %d, after one at %d", i, at, got, last)
		}
		sum += float64(got - at)
		last = got
	}
	// 20 us and 1 % of 1 ms; the standard error of the mean is 0.7 us.
	if mean := sum / n; math.Abs(mean-30_000) > 3_000 {
		t.Errorf("mean delay %g ns, want 30000 +- 3000", mean)
	}
	if newJitter(Jitter{Seed: 1}, 2) != nil {
		t.Error("a jitter of nothing is not nil")
	}
}

func TestEventsComeInOrderOfTimeThenSequence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type delivery struct {
		at  int64
		seq int
	}
	var got, want []delivery
	e := &engine{deliver: func(f *frame, due int64) { got = append(got, delivery{due, f.n}) }}
	for seq := range 2000 {
		at := rng.Int64N(300)
		e.schedule(at, event{f: &frame{n: seq}}) // its path has no more links
		want = append(want, delivery{at, seq})
		if seq == 1000 { // the room of events that are over is used again
			e.run(100)
			e.run(100)
		}
	}
	e.run(math.MaxInt64)
	early := slices.DeleteFunc(slices.Clone(want), func(d delivery) bool { return d.seq > 1000 || d.at > 100 })
	late := slices.DeleteFunc(want, func(d delivery) bool { return d.seq <= 1000 && d.at <= 100 })
	for _, part := range [][]delivery{early, late} {
		slices.SortStableFunc(part, func(a, b delivery) int { return int(a.at - b.at) })
	}
	if want := slices.Concat(early, late); !slices.Equal(got, want) {
		t.Errorf("events come as %v\nwant %v", got, want)
	}
	if len(e.slots) > 2000-300 {
		t.Errorf("%d slots for 2,000 events, of which some 670 are over before the others come", len(e.slots))
	}
}

// checksum is that of RFC 1071, from its definition.
func checksum(header []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}

func TestMarksKeepTheChecksumRight(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 1000 {
		b := make([]byte, 60)
		for k := range b {
			b[k] = byte(rng.Uint32())
		}
		b[12], b[13], b[14] = 8, 0, 0x45
		ecn := byte(i % 4)
		b[15] = b[15]&^3 | ecn
		b[24], b[25] = 0, 0
		binary.BigEndian.PutUint16(b[24:], checksum(b[14:34]))

		marked := markCE(b)
		switch {
		case marked != (ecn != 0):
			t.Fatalf("markCE of ECN field %d = %v", ecn, marked)
		case marked && b[15]&3 != 3:
			t.Fatalf("marked frame has ECN field %d, want 3", b[15]&3)
		case checksum(b[14:34]) != 0:
			t.Fatalf("ECN field %d: wrong checksum after the mark", ecn)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 20), make([]byte, 60)} {
		if markCE(b) {
			t.Errorf("markCE of %d bytes that are no IPv4 = true", len(b))
		}
	}
}

func TestFlowsAreToldApartByPorts(t *testing.T) {
	b := make([]byte, 60)
	b[12], b[13], b[14], b[23] = 8, 0, 0x45, 6
	seen := map[uint32]bool{}
	for port := range 200 {
		binary.BigEndian.PutUint16(b[34:], uint16(40000+port))
		seen[flowOf(b, 0, 1)&(fairLanes-1)] = true
	}
	// 200 balls in 64 boxes leave 64*(63/64)^200 = 2.7 of them empty in the mean.
	if len(seen) < fairLanes-12 {
		t.Errorf("200 connections use %d of %d lanes", len(seen), fairLanes)
	}
	if flowOf(nil, 1, 2) == flowOf(nil, 2, 1) {
		t.Error("without ports, the two directions belong to one flow")
	}
}

func BenchmarkEngine(b *testing.B) {
	// Four hops each, 12 hosts, full frames: what the loop does per frame
	// besides its system calls.
	n := newNetwork(b, `"spec":"tree:2x2x3 latency=300us,100us,20us rate=1GBps"`)
	free := make([]*frame, 0, 64)
	for range 64 {
		free = append(free, &frame{buf: make([]byte, 9014), n: 9014})
	}
	n.deliver = func(f *frame, _ int64) { free = append(free, f) }
	n.engine.drop = func(f *frame) { free = append(free, f) }
	at := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		at += 20_000
		n.run(at)
		f := free[len(free)-1]
		free = free[:len(free)-1]
		f.src, f.dst, f.flow = int(at/20_000)%12, int(at/20_000+6)%12, uint32(at/20_000)
		n.inject(at, f)
	}
}
