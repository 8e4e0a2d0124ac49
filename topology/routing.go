package topology

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/words"
)

// A RouteChoice says which of several equally short routes is taken.
type RouteChoice int

// The choices. Routes are fixed: one pair of hosts has one route.
const (
	// ChooseLowest takes at every vertex the next vertex of lowest number. On
	// a fat tree all routes then share the first top switch.
	ChooseLowest RouteChoice = iota

	// ChooseModulo spreads routes by their destination d: the first vertex
	// with c > 1 ways on takes way d mod c and goes on with d/c. On a fat tree
	// it is d-mod-k routing (Zahavi 2012), as InfiniBand's and SimGrid's.
	ChooseModulo

	// ChooseHashed takes at every vertex a way by a hash of source,
	// destination and vertex, as ECMP on Ethernet does.
	ChooseHashed
)

// RouteChoices returns all choices.
func RouteChoices() []RouteChoice { return []RouteChoice{ChooseLowest, ChooseModulo, ChooseHashed} }

// choiceWords are the choices as files and specifications of clusters have them.
var choiceWords = [...]string{"lowest", "modulo", "ecmp"}

// String is the word for the choice in files and in specifications of clusters:
// lowest, modulo or ecmp.
func (c RouteChoice) String() string {
	if c < 0 || int(c) >= len(choiceWords) {
		return fmt.Sprintf("routing %d", int(c))
	}
	return choiceWords[c]
}

// ParseRouteChoice reads the word that String writes.
func ParseRouteChoice(word string) (RouteChoice, error) {
	if c := slices.Index(choiceWords[:], word); c >= 0 {
		return RouteChoice(c), nil
	}
	return 0, fmt.Errorf("topology: routing %q: want %s", word, words.Or(RouteChoices()))
}
