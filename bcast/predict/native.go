package predict

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// A NativeTime is how long native takes among the ranks of a group: from when all of them are there until the last one
// has the bytes.
type NativeTime struct {
	Group   int     // index in Groups() of the network's hierarchy
	Bytes   int     // at least 1
	Seconds float64 // above 0
}

// MeasuredNative tells what steps of Kind schedule.Native take, in place of what was told before.
// Between two sizes time is linear, below the first it is that of the first, and beyond the last it
// grows by the bytes. Groups that are not in the list are guessed: a binomial tree in the
// order of the ranks, each with the whole message; a prediction that rests on this is no
// better than other guesses, and Candidates hides it.
func (e *Evaluator) MeasuredNative(times []NativeTime) {
	e.native = make(map[int][]NativeTime)
	for _, t := range times {
		e.native[t.Group] = append(e.native[t.Group], t)
	}
	for _, list := range e.native {
		slices.SortFunc(list, func(a, b NativeTime) int { return cmp.Compare(a.Bytes, b.Bytes) })
		for i := range list[1:] { // longer messages are faster only by noise
			list[i+1].Seconds = max(list[i+1].Seconds, list[i].Seconds)
		}
	}
}

// nativeTime is the time in s of native in a group of the schedule that is played.
func (e *Evaluator) nativeTime(group, bytes int) float64 {
	known := e.native[group]
	if e.problem.Tree != e.tree || len(known) == 0 {
		return e.guessNative(e.members(group), bytes)
	}
	i, exact := slices.BinarySearchFunc(known, bytes, func(t NativeTime, bytes int) int { return cmp.Compare(t.Bytes, bytes) })
	last := known[len(known)-1]
	switch {
	case exact || i == 0:
		return known[i].Seconds
	case i < len(known):
		a, b := known[i-1], known[i]
		return a.Seconds + (b.Seconds-a.Seconds)*float64(bytes-a.Bytes)/float64(b.Bytes-a.Bytes)
	}
	return last.Seconds * float64(bytes) / float64(last.Bytes)
}

// guessNative is the time of a binomial tree, from the first of the members to the last that it serves at its
// own cost: of each distance a whole message.
func (e *Evaluator) guessNative(members []int, bytes int) float64 {
	if g, ok := e.transfers.(*guess); ok {
		g.used = true
	}
	t := 0.0
	for k := range bits.Len(uint(len(members) - 1)) {
		t += e.transfers.Time(members[0], members[1<<k], int64(bytes))
	}
	return t
}

// members are the ranks of a group of the schedule that is played.
func (e *Evaluator) members(group int) []int { return e.problem.Tree.Groups()[group].Hosts }

// call lets one more rank come to a Native, which begins when the last of the group has.
func (e *Evaluator) call(op schedule.Op) {
	group := int(op.Group)
	members := e.members(group)
	if e.called[group]++; e.called[group] < len(members) {
		return
	}
	delete(e.called, group)
	begin := 0.0
	for _, r := range members {
		begin = max(begin, e.now[r])
	}
	end := begin + e.nativeTime(group, op.Length)
	for _, r := range members {
		e.now[r] = end
		e.next[r]++
		if r != op.Peer {
			e.received[r] = end
		}
	}
	for _, r := range members {
		e.proceed(r)
	}
}
