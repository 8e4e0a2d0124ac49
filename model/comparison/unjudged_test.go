package comparison_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/topology/compare"
)

// Where no link of a level can be judged, nobody can say that nothing differs: the uplink's latency was measured on neither side.
func TestUnjudgedLevelsAreNotTheSame(t *testing.T) {
	side := func(uplink string) *comparison.Side {
		text := fmt.Sprintf(`{"graph":{"hosts":["h0","h1","h2","h3","h4","h5"],"switches":["a","b"],"links":[
			{"a":0,"b":6,"bandwidth_MBps":100},{"a":1,"b":6,"bandwidth_MBps":100},{"a":2,"b":6,"bandwidth_MBps":100},
			{"a":3,"b":7,"bandwidth_MBps":100},{"a":4,"b":7,"bandwidth_MBps":100},{"a":5,"b":7,"bandwidth_MBps":100},
			{"a":6,"b":7%s}]}}`, uplink)
		n, err := model.DecodeFile("", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := comparison.NewSide("side", n)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		uplink string
		want   compare.Outcome
	}{{"", compare.Unknown}, {`,"bandwidth_MBps":100`, compare.Same}} {
		found, err := comparison.Compare(side(c.uplink), side(c.uplink), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Links.Outcome; got != c.want || slices.Equal(found.Links.Unjudged, nil) != (c.want == compare.Same) {
			t.Errorf("uplink %q: outcome %v, unjudged %q, want %v", c.uplink, got, found.Links.Unjudged, c.want)
		}
	}
}
