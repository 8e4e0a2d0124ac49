package comparison_test

import (
	"fmt"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/topology/compare"
)

// A plan of four hosts on one switch, and the machine as it was measured: the link of h2 is three times as slow.
func Example() {
	side := func(name string, latency float64) *comparison.Side {
		text := fmt.Sprintf(`{"graph":{"hosts":["h0","h1","h2","h3"],"switches":["s"],"links":[
			{"a":0,"b":4,"latency_us":2},{"a":1,"b":4,"latency_us":2},{"a":2,"b":4,"latency_us":%g},{"a":3,"b":4,"latency_us":2}]}}`, latency)
		n, err := model.DecodeFile("", []byte(text), nil)
		if err != nil {
			panic(err)
		}
		s, err := comparison.NewSide(name, n)
		if err != nil {
			panic(err)
		}
		return s
	}
	found, err := comparison.Compare(side("today", 6), side("plan", 2), 0)
	if err != nil {
		panic(err)
	}
	for _, f := range found.Links.Findings {
		fmt.Printf("%s: %s\n", f.What, f.Reason)
	}
	fmt.Println("differs:", found.Links.Outcome == compare.Differs)
	// Output:
	// link of h2: latency 6 us, 3 times as slow as the reference's 2 us
	// differs: true
}
