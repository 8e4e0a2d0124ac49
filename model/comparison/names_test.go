package comparison_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
)

// Hosts with domains on one side are the other side's hosts, and the comparison says so.
func TestCompareMatchesNamesWithoutDomains(t *testing.T) {
	side := func(domain, latency string) *comparison.Side {
		text := `{"graph":{"hosts":["h0.D","h1.D","h2.D","h3.D"],"switches":["s"],"links":[
			{"a":0,"b":4,"latency_us":2},{"a":1,"b":4,"latency_us":2},{"a":2,"b":4,"latency_us":L},{"a":3,"b":4,"latency_us":2}]}}`
		n, err := model.DecodeFile("", []byte(strings.NewReplacer(".D", domain, "L", latency).Replace(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := comparison.NewSide("side"+domain, n)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	found, err := comparison.Compare(side(".cluster", "6"), side("", "2"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Links.Findings) != 1 || found.Links.Findings[0].What != "link of h2" {
		t.Errorf("findings %v, want the link of h2", found.Links.Findings)
	}
	if want := "4 hosts matched without their domains: h0.cluster is taken for h0"; !slices.Contains(found.Links.Warnings, want) {
		t.Errorf("warnings %q, want %q", found.Links.Warnings, want)
	}
	if _, err := comparison.Compare(side(".a", "2"), side(".b", "2"), 0); err == nil {
		t.Error("hosts of two domains are taken for the same")
	}
}
