package topology_test

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestRouteChoicesHaveWords(t *testing.T) {
	for c, want := range map[topology.RouteChoice]string{
		topology.ChooseLowest: "lowest", topology.ChooseModulo: "modulo", topology.ChooseHashed: "ecmp",
	} {
		got, err := topology.ParseRouteChoice(want)
		if c.String() != want || got != c || err != nil {
			t.Errorf("%q is %v, %v, want %v, whose word is %q", want, got, err, c, want)
		}
	}
	for _, word := range []string{"", "Lowest", "hashed"} {
		if _, err := topology.ParseRouteChoice(word); err == nil || !strings.Contains(err.Error(), "want lowest, modulo or ecmp") {
			t.Errorf("ParseRouteChoice(%q) = %v, want an error with the words", word, err)
		}
	}
	if got := topology.RouteChoice(3).String(); got != "routing 3" {
		t.Errorf("a choice that is none is %q", got)
	}
}
