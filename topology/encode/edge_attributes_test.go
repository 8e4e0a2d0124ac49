package encode

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// Latencies and bandwidths of links as other tools name and write them, in three formats: the unit is with the name or with the number,
// and a number without any is refused by its name. The expected values are units by hand: 8 bits are a byte.
func TestAttributesOfOtherTools(t *testing.T) {
	formats := map[string]struct {
		read func(io.Reader, []string) (*topology.Graph, []string, error)
		file func(name, value string) string
	}{
		"DOT": {ReadDOT, func(name, value string) string { return fmt.Sprintf("graph { a -- b [%q=%q] }", name, value) }},
		"GraphML": {ReadGraphML, func(name, value string) string {
			return fmt.Sprintf(`<graphml><key id="k" for="edge" attr.name=%q/><graph edgedefault="undirected"><node id="a"/><node id="b"/>`+
				`<edge source="a" target="b"><data key="k">%s</data></edge></graph></graphml>`, name, value)
		}},
		"node-link JSON": {ReadNodeLink, func(name, value string) string {
			return fmt.Sprintf(`{"nodes": ["a", "b"], "links": [{"source": "a", "target": "b", %q: %q}]}`, name, value)
		}},
	}
	none := math.NaN()
	for _, c := range []struct {
		name, value        string
		latency, bandwidth float64
	}{
		{"latency", "1us", 1e-6, none},
		{"latency", "10 ms", 10e-3, none},
		{"Latency", "5 ns", 5e-9, none},
		{"latency", "2.5 µs", 2.5e-6, none},
		{"latency", "3usec", 3e-6, none},
		{"latency_us", "4", 4e-6, none},
		{"latency (ms)", "0.5", 5e-4, none},
		{"latency_s", "1e-6", 1e-6, none},
		{"bandwidth", "100Gbps", none, 12.5e9},
		{"bandwidth", "1400 Gbps", none, 175e9},
		{"bandwidth", "10 Gbit/s", none, 1.25e9},
		{"bandwidth", "1 Gbit", none, 125e6},
		{"bandwidth", "125MBps", none, 125e6},
		{"bandwidth", "125 MB/s", none, 125e6},
		{"bandwidth_Gbps", "40", none, 5e9},
		{"bandwidth_MBps", "1e3", none, 1e9},
		{"bandwidth_Bps", "1250000000", none, 1.25e9},
		{"colour", "1us", none, none},
		{"latency_class", "", none, none},
	} {
		for format, f := range formats {
			g, _, err := f.read(strings.NewReader(f.file(c.name, c.value)), nil)
			if err != nil {
				t.Errorf("%s, %s=%s: %v", format, c.name, c.value, err)
				continue
			}
			same := func(got, want float64) bool {
				return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-12*want
			}
			if a := g.Arcs()[0]; !same(a.Latency, c.latency) || !same(a.Bandwidth, c.bandwidth) {
				t.Errorf("%s, %s=%s: %g s and %g B/s, want %g and %g", format, c.name, c.value, a.Latency, a.Bandwidth, c.latency, c.bandwidth)
			}
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"latency", "0.001", `latency "0.001" has no unit: name it latency_s, _ms, _us or _ns`},
		{"bandwidth", "1250000000", `bandwidth "1250000000" has no unit: name it bandwidth_Bps, _MBps or _Gbps`},
		{"latency", "10Gbps", `latency "10Gbps": want a number and a unit`},
		{"bandwidth_Gbps", "-1", `bandwidth_Gbps "-1": want a number and a unit`},
		{"latency", "fast", `latency "fast": want a number and a unit`},
	} {
		for format, f := range formats {
			if format == "DOT" && strings.HasSuffix(c.want, "ps") || format == "DOT" && strings.HasSuffix(c.want, "ns") {
				continue // DOT's own are in s and B/s
			}
			if _, _, err := f.read(strings.NewReader(f.file(c.name, c.value)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s=%s: %v, want an error with %q", format, c.name, c.value, err, c.want)
			}
		}
	}
}
