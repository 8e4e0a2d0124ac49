package schedule

// Earliest gives each rank the message from the one that can bring it there first. Groups come before their hosts, and far
// ones before near ones. It is for short messages, where what counts is who is idle and how far it is. It is the greedy
// broadcast of the postal model (A. Bar-Noy, S. Kipnis 1994) with the earliest completion as its rule (P. B. Bhat, C. S.
// Raghavendra, V. K. Prasanna 2003, ECEF). Their search for the next sender takes O(ranks). As ranks of one group are alike,
// it is one of O(levels log ranks) here.
//
// It follows Problem.Tree and Problem.Costs. The tree is that of messages of the
// next power of two of the bytes, or of the segment.
type Earliest struct{}

// Name returns "earliest".
func (Earliest) Name() string { return "earliest" }

// Prepare implements Algorithm.
func (Earliest) Prepare(p Problem) Parts { return grow(p, p.shapedFor(), unlimited) }
