package collective

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/mpi"
)

// A kind is a collective that the library may have, too.
type kind uint8

const (
	barrier kind = iota
	reduction
	allreduction
	gathering
	scattering
	allgathering
	alltoall
	kinds
)

func kindNames() []string {
	return []string{"Barrier", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"}
}

// class are the sizes that are decided together: those from above one power of two up to the next.
func class(bytes int) int { return bits.Len(uint(max(0, bytes-1))) }

// byMessages tells whether messages have beaten the library's own.
func (c *Comm) byMessages(k kind, bytes int) bool { return c.won[k]&(1<<class(bytes)) != 0 }

// leave decides a class of sizes.
func (c *Comm) leave(k kind, bytes int, messages bool) {
	if messages {
		c.won[k] |= 1 << class(bytes)
	} else {
		c.won[k] &^= 1 << class(bytes)
	}
}

// A Choice is what Tune has decided.
type Choice struct {
	Collective string
	Bytes      int     // and all sizes down to the next power of two; 0 for Barrier
	Messages   bool    // the messages of this package are used, and not the library's own collective
	Decided    bool    // the contest has come to its end, or there was none
	Own        float64 // s by messages after a barrier, which counts, median; 0: there was no contest
	Library    float64 // s by the library's own, likewise
	Pairs      int     // of the contest
}

// String is the choice in one line.
func (c Choice) String() string {
	by := "the library's own"
	if c.Messages {
		by = "messages"
	}
	text := c.Collective
	if c.Bytes > 0 {
		text += " of " + quantity.Bytes(c.Bytes)
	}
	text += ": " + by
	if c.Pairs > 0 {
		text += fmt.Sprintf(" (%s by messages, %s by the library's, %d pairs", quantity.Seconds(c.Own), quantity.Seconds(c.Library), c.Pairs)
		if !c.Decided {
			text += ", undecided"
		}
		text += ")"
	}
	return text
}

// Tune is collective: it decides by a paired contest, that of broadcasts (package bcast/tuner), whether the library's own
// collective of that name ("Barrier", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather" or "Alltoall") or the messages of this
// package are used for so many bytes of values or src (Scatter: of dst) on each rank, and for all sizes down to the next power
// of two. The library's own stays unless it is slower beyond doubt, and where nothing is tuned. The forms with parts of different
// lengths and those by functions of one's own are not tuned.
//
// The name and the size of rank 0 count, and limit, the time that it may take; 0: as long as it needs, a quarter of a second
// or 11 pairs. Tune again decides anew.
func (c *Comm) Tune(name string, bytes int, limit time.Duration) (Choice, error) {
	choice, err := c.tune(name, bytes, limit)
	return choice, failed("Tune", err)
}

func (c *Comm) tune(name string, size int, limit time.Duration) (Choice, error) {
	told := struct {
		Name  string
		Bytes int
		Limit time.Duration
	}{name, size, limit}
	err := c.tell(&told, func() error {
		switch {
		case !slices.Contains(kindNames(), name):
			return fmt.Errorf("%q: want one of %s", name, strings.Join(kindNames(), ", "))
		case size < 0 || size > 1<<30/c.all.size:
			return fmt.Errorf("%d bytes of each rank: want 0 to %d", size, 1<<30/c.all.size)
		case limit < 0:
			return fmt.Errorf("limit %v: want at least 0", limit)
		}
		return nil
	})
	if err != nil {
		return Choice{}, err
	}
	k, bytes := kind(slices.Index(kindNames(), told.Name)), told.Bytes
	if k == barrier {
		bytes = 0
	}
	choice := Choice{Collective: told.Name, Bytes: bytes, Decided: true}
	if !c.isNative(k) {
		choice.Messages = true
		return choice, nil
	}
	if c.all.size == 1 {
		return choice, nil
	}
	if c.watch == nil {
		if err := c.startWatch(); err != nil {
			return choice, err
		}
	}
	before := c.won
	verdict, err := c.contest(k, bytes, told.Limit)
	c.won = before
	if err != nil {
		return choice, err
	}
	c.leave(k, bytes, verdict.Wins)
	choice.Messages, choice.Decided, choice.Pairs = verdict.Wins, verdict.Decided, verdict.Rounds
	choice.Own, choice.Library = verdict.Challenger.Cold, verdict.Incumbent.Cold
	return choice, nil
}

// startWatch is collective.
func (c *Comm) startWatch() error {
	places, err := mpi.GatherPlaces(c.Communicator)
	if err != nil {
		return err
	}
	var hosts []int
	number := make(map[string]int)
	for _, p := range places {
		if _, known := number[p.Host]; !known {
			number[p.Host] = len(number)
		}
		hosts = append(hosts, number[p.Host])
	}
	crowded := len(mpi.OversubscribedHosts(places)) > 0
	if err := c.tell(&crowded, nil); err != nil {
		return err
	}
	c.crowded = crowded
	c.watch, err = tuner.NewStopwatch(c.Communicator, c.tag, hosts, crowded)
	return err
}

// contest is collective. It leaves c.won as the last pair needed it.
func (c *Comm) contest(k kind, bytes int, limit time.Duration) (tuner.Verdict, error) {
	roots := []int{0}
	if k == reduction || k == gathering || k == scattering {
		for _, r := range []int{c.all.size / 2, c.all.size - 1} {
			if r > roots[len(roots)-1] {
				roots = append(roots, r)
			}
		}
	}
	all := make([]byte, bytes*c.all.size)
	other := make([]byte, bytes)
	// Data of a broadcast leave the root, by whose start the stopwatch goes. Here they leave all ranks, which therefore
	// begin at a barrier of messages, the same for both: it makes the difference seem smaller, and so the library's own safer.
	by := func(messages bool) tuner.Way {
		return func(buf []byte, root int) error {
			c.used = 0
			if err := c.synchronise(); err != nil {
				return err
			}
			c.leave(k, len(buf), messages)
			return c.perform(k, buf, other, all, root)
		}
	}
	buf := bytesOf(make([]float64, (bytes+7)/8))[:bytes] // aligned
	contest := c.watch.Contest(roots, buf, c.crowded, limit.Seconds())
	own, library := by(true), by(false)
	if err := contest.Warm(library, own); err != nil {
		return tuner.Verdict{}, err
	}
	return contest.Beats(own, library)
}

// perform runs a collective on buf, with room for as much and for as much of all ranks.
func (c *Comm) perform(k kind, buf, other, all []byte, root int) error {
	all = all[:len(buf)*c.all.size]
	var numbers []float64
	if len(buf) >= 8 {
		numbers = valuesOf[float64](buf, len(buf)/8)
	}
	switch k {
	case barrier:
		return Barrier(c)
	case reduction:
		if numbers == nil {
			return Reduce(c, buf, mpi.Sum, root)
		}
		return Reduce(c, numbers, mpi.Sum, root)
	case allreduction:
		if numbers == nil {
			return Allreduce(c, buf, mpi.Sum)
		}
		return Allreduce(c, numbers, mpi.Sum)
	case gathering:
		return Gather(c, all, buf, root)
	case scattering:
		return Scatter(c, buf, all, root)
	case allgathering:
		return Allgather(c, all, buf)
	case alltoall:
		whole := len(buf) / c.all.size * c.all.size
		return Alltoall(c, other[:whole], buf[:whole])
	}
	return errors.New("no collective") // kinds are checked
}
