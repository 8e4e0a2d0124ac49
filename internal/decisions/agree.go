package decisions

import (
	"cmp"
	"fmt"
	"math"
)

// Ranks agree in the first call of a kind, by one short message up and down a tree. Later calls of the kind cost nothing. If ranks
// differ in these, the next agreement finds it by a digest of all calls.
//
// The messages of all agreements have one length, but for the numbers of AgreeLists. So ranks that begin different operations with
// messages of one tag meet in them, and are told.

// An Operation is what ranks are about to do together.
type Operation int

// The operations.
const (
	Broadcast Operation = iota
	Reduction
	TuneBroadcasts
	TuneReductions
	Predictions // Candidates
)

func (o Operation) String() string {
	return [...]string{"a broadcast", "a reduction", "Tune of broadcasts", "Tune of reductions", "Candidates"}[o]
}

// Calls are those of a rank since the ranks have last agreed.
type Calls struct {
	made   int
	digest uint64
}

// Add notes a call that this rank does not refuse. Other ranks pass the same.
func (c *Calls) Add(bytes, root, kind int) {
	const odd = 0x9e3779b97f4a7c15 // spreads each bit over those above it
	c.made++
	c.digest = (((c.digest+uint64(bytes))*odd+uint64(root))*odd + uint64(kind)) * odd
}

// A Number is one about which all ranks have to agree.
type Number struct {
	Name  string
	Value int
	Word  func(value int) string // what stands for a value in an error; nil: the number
}

func (x Number) text(value float64) string {
	if x.Word != nil {
		return x.Word(int(value))
	}
	return fmt.Sprintf("%.0f", value)
}

// mostNumbers is how many an operation has, at most.
const mostNumbers = 4

// Agree is collective: it returns an error on all ranks if they disagree about the operation, their calls so far, or a
// number. There are at most mostNumbers. wrong is why this rank refuses the call, if it does: it is returned here, and
// the ranks that do not refuse the call get an error. From then on calls count anew. failed is an error of the
// communicator.
func (b *Base) Agree(o Operation, calls *Calls, wrong error, numbers ...Number) (differ, failed error) {
	const shift = 12 // a float64 holds the other bits of the digest
	all := [4 + mostNumbers]Number{
		{Name: "operation", Value: int(o), Word: func(value int) string { return Operation(value).String() }},
		{Name: "number of calls before", Value: calls.made},
		{Name: digestName, Value: int(calls.digest >> shift)},
	}
	copy(all[3:], numbers)
	refusal := Number{Name: "arguments", Word: func(value int) string { return [...]string{"right", "wrong"}[value] }}
	if wrong != nil {
		refusal.Value = 1
	}
	all[len(all)-1] = refusal
	*calls = Calls{}
	differ, failed = b.compare(all[:])
	return cmp.Or(wrong, differ), failed
}

// digestName stands for a number that tells a reader nothing.
const digestName = "arguments of a call before"

// compare is collective: it returns an error on all ranks if they disagree about one of as many numbers.
func (b *Base) compare(numbers []Number) (differ, failed error) {
	var most []float64
	for _, x := range numbers {
		most = append(most, float64(x.Value), -float64(x.Value))
	}
	if err := b.Control.Max(most); err != nil {
		return nil, err
	}
	for i, x := range numbers {
		if highest, lowest := most[2*i], -most[2*i+1]; highest != lowest {
			return b.difference(x, lowest, highest)
		}
	}
	return nil, nil
}

// difference is collective: it says about which number the ranks disagree, and names the first ranks with the lowest and with
// the highest value.
func (b *Base) difference(x Number, lowest, highest float64) (differ, failed error) {
	first := []float64{math.Inf(-1), math.Inf(-1)} // of the ranks, negative
	for i, value := range []float64{lowest, highest} {
		if float64(x.Value) == value {
			first[i] = -float64(b.Comm.Rank())
		}
	}
	if err := b.Control.Max(first); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s: rank %d: the ranks disagree about the %s", b.name, b.Comm.Rank(), x.Name)
	if x.Name == digestName {
		return fmt.Errorf("%s, whose result is wrong (rank %.0f and rank %.0f): want equal ones on all ranks", text, -first[0], -first[1]), nil
	}
	return fmt.Errorf("%s: this rank says %s, and the ranks say %s to %s (rank %.0f and rank %.0f)", text, x.text(float64(x.Value)), x.text(lowest), x.text(highest), -first[0], -first[1]), nil
}

// AgreeLists is collective: it is Agree about the sizes and roots of a call of Tune.
func (b *Base) AgreeLists(o Operation, calls *Calls, sizes, roots []int) (differ, failed error) {
	differ, failed = b.Agree(o, calls, nil, Number{Name: "number of sizes", Value: len(sizes)}, Number{Name: "number of roots", Value: len(roots)})
	if differ != nil || failed != nil {
		return differ, failed
	}
	var numbers []Number
	for _, x := range sizes {
		numbers = append(numbers, Number{Name: "sizes in bytes", Value: x})
	}
	for _, x := range roots {
		numbers = append(numbers, Number{Name: "roots", Value: x})
	}
	return b.compare(numbers)
}
