package smpi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/smpi"
)

// rounds are two exchanges of a rank with both of its neighbours.
type rounds struct{}

func (rounds) Name() string { return "rounds" }

func (rounds) Prepare(schedule.Problem) schedule.Parts {
	return schedule.Steps(func(dst []schedule.Op, _ schedule.Problem, _ int) []schedule.Op { return append(dst, twoRounds()...) })
}

func twoRounds() []schedule.Op {
	return []schedule.Op{
		{Kind: schedule.Send, Exchange: true, Peer: 2, Offset: 0, Length: 4},
		{Kind: schedule.Recv, Peer: 0, Offset: 4, Length: 4},
		{Kind: schedule.Send, Exchange: true, Peer: 0, Offset: 4, Length: 4},
		{Kind: schedule.Recv, Peer: 2, Offset: 8, Length: 2},
	}
}

// The second rank of a chain of three, and the root of three ranks, by hand.
func TestTraceByHand(t *testing.T) {
	chain := schedule.Problem{Ranks: 3, Bytes: 10, Segment: 4}
	for _, c := range []struct {
		name  string
		a     schedule.Algorithm
		rank  int
		ahead bool
		want  string
	}{
		{"each step ends before the next", schedule.Chain{}, 1, false, `
1 init
1 recv 0 0 4
1 send 2 0 4
1 recv 0 1 4
1 send 2 1 4
1 recv 0 2 2
1 send 2 2 2
1 finalize
`},
		{"the next receive is posted, and the last send still under way", schedule.Chain{}, 1, true, `
1 init
1 irecv 0 0 4
1 irecv 0 1 4
1 wait 0 1 0
1 isend 2 0 4
1 irecv 0 2 2
1 wait 0 1 1
1 isend 2 1 4
1 wait 0 1 2
1 wait 1 2 0
1 isend 2 2 2
1 wait 1 2 1
1 wait 1 2 2
1 finalize
`},
		{"the root only sends", schedule.Flat{}, 0, true, `
0 init
0 isend 1 0 4
0 isend 2 0 4
0 isend 1 1 4
0 isend 2 1 4
0 isend 1 2 2
0 isend 2 2 2
0 wait 0 1 0
0 wait 0 2 0
0 wait 0 1 1
0 wait 0 2 1
0 wait 0 1 2
0 wait 0 2 2
0 finalize
`},
		{"exchanges send while they receive", rounds{}, 1, false, `
1 init
1 isend 2 0 4
1 recv 0 0 4
1 wait 1 2 0
1 isend 0 0 4
1 recv 2 0 2
1 wait 1 0 0
1 finalize
`},
		{"the receive of the next exchange is posted", rounds{}, 1, true, `
1 init
1 irecv 0 0 4
1 isend 2 0 4
1 irecv 2 0 2
1 wait 0 1 0
1 isend 0 0 4
1 wait 2 1 0
1 wait 1 2 0
1 wait 1 0 0
1 finalize
`},
	} {
		var b strings.Builder
		if err := smpi.WriteTrace(&b, c.rank, c.a.Prepare(chain).Of(c.rank).Ops(nil, chain), c.ahead); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != c.want[1:] {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want[1:])
		}
	}
}

// A message of a trace, as its two ends name it.
type message struct{ src, dst, tag int }

// calls reads a trace, and returns the bytes of what was sent and of what was
// received. It finds waits for what was not started, and what is not waited for.
func calls(trace io.Reader) (sent, received map[message]int, err error) {
	sent, received = map[message]int{}, map[message]int{}
	under := map[message]int{} // who has to wait, +1
	lines := bufio.NewScanner(trace)
	for lines.Scan() {
		var rank, x, y, z int
		var action string
		n, _ := fmt.Sscan(lines.Text(), &rank, &action, &x, &y, &z)
		switch {
		case action == "init" || action == "finalize":
		case n != 5:
			return nil, nil, fmt.Errorf("line %q", lines.Text())
		case action == "wait":
			key := message{x, y, z}
			if x == rank {
				key.tag = -1 - z // the sender's end
			}
			if under[key] != rank+1 {
				return nil, nil, fmt.Errorf("%q: no such call of rank %d is under way", lines.Text(), rank)
			}
			delete(under, key)
		default:
			m, all := message{rank, x, y}, sent
			if strings.HasSuffix(action, "recv") {
				m, all = message{x, rank, y}, received
			}
			if _, twice := all[m]; twice {
				return nil, nil, fmt.Errorf("%q: a second time", lines.Text())
			}
			all[m] = z
			if strings.HasPrefix(action, "isend") {
				m.tag = -1 - y
			}
			if action[0] == 'i' {
				under[m] = rank + 1
			}
		}
	}
	if len(under) > 0 {
		return nil, nil, fmt.Errorf("%d calls are not waited for: %v", len(under), under)
	}
	return sent, received, lines.Err()
}

// Every message has two ends of the same length, and every call that was started
// is waited for once, for all algorithms and random problems.
func TestTracesAreWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	for range 10 {
		p := schedule.Problem{Ranks: 1 + rng.IntN(20), Bytes: rng.IntN(200), Segment: rng.IntN(50)}
		p.Root = rng.IntN(p.Ranks)
		for _, a := range append(schedule.Algorithms(), classic.Algorithms()...) {
			for _, ahead := range []bool{false, true} {
				var b strings.Builder
				if err := smpi.WriteTraces(&b, a, p, ahead); err != nil {
					t.Fatal(err)
				}
				sent, received, err := calls(strings.NewReader(b.String()))
				if err != nil {
					t.Fatalf("%s, %+v, ahead %v: %v", a.Name(), p, ahead, err)
				}
				for m, bytes := range sent {
					if received[m] != bytes {
						t.Fatalf("%s, %+v, ahead %v: message %v of %d bytes, received as %d", a.Name(), p, ahead, m, bytes, received[m])
					}
				}
				if len(received) != len(sent) {
					t.Fatalf("%s, %+v, ahead %v: %d messages, %d received", a.Name(), p, ahead, len(sent), len(received))
				}
			}
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestTraceErrors(t *testing.T) {
	p := schedule.Problem{Ranks: 2, Bytes: 1}
	if err := smpi.WriteTraces(fullDisk{}, schedule.Flat{}, p, false); !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
	native := []schedule.Op{{Kind: schedule.Native, Group: 1, Length: 1}}
	if err := smpi.WriteTrace(io.Discard, 0, native, false); err == nil {
		t.Error("a broadcast in a group has a trace")
	}
	p.Root = 2
	if err := smpi.WriteTraces(io.Discard, schedule.Flat{}, p, false); err == nil {
		t.Error("a problem whose root is no rank has a trace")
	}
}
