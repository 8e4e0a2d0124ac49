package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/quantity"
)

// nameOf names a link by what hangs on it.
func (c *linkComparer) nameOf(l *LinkState) string {
	isHost := func(v int) bool { return v >= 0 && v < c.whole.Hosts() }
	switch {
	case l.U == l.V && l.U >= 0:
		return "inside of " + hostlist.Ranges(l.Below)
	case isHost(l.U) && isHost(l.V):
		return fmt.Sprintf("link %s - %s", c.whole.Name(l.U), c.whole.Name(l.V))
	case len(l.Below) == 1:
		return "link of " + l.Below[0]
	case l.Below != nil:
		return "uplink of " + hostlist.Ranges(l.Below)
	}
	return fmt.Sprintf("link %s - %s", c.endName(l.U, l.Ends[0]), c.endName(l.V, l.Ends[1]))
}

// endName names a switch by its hosts, or by its own name if it has none.
func (c *linkComparer) endName(v int, hosts []string) string {
	if len(hosts) == 0 {
		return c.whole.Name(v)
	}
	return hostlist.Ranges(hosts)
}

// hosts are those that hang on the link, or are at its ends.
func (l *LinkState) hosts() []string {
	if l.Below != nil {
		return l.Below
	}
	return slices.Concat(l.Ends[0], l.Ends[1])
}

// reason says what is the matter with a link: that nothing takes it, or which of its quantities are off, and by how much.
func (c *linkComparer) reason(l *LinkState) string {
	if l.Verdict == LinkMissing {
		return "nothing takes it: it is cut, or slower than the way around it"
	}
	var parts []string
	add := func(q Quantity, what string, show func(float64) string) {
		if q.Verdict != LinkSlow && q.Verdict != LinkFast {
			return
		}
		text := fmt.Sprintf("%s %s, ", what, show(q.Measured))
		if q.Unseen {
			text = what + " too short to be seen, "
		}
		text += timesAs(q.Slower, q.Unseen)
		if !math.IsNaN(q.Reference) {
			text += " as the reference's " + show(q.Reference)
		} else {
			text += " as others of its level"
		}
		parts = append(parts, text)
	}
	add(l.Latency, "latency", quantity.Seconds)
	there, back := l.Bandwidth[0], l.Bandwidth[1]
	if there.Verdict == back.Verdict {
		worse := there
		if back.Slower > there.Slower == (there.Verdict == LinkSlow) {
			worse = back
		}
		add(worse, "bandwidth", quantity.Rate)
	} else {
		far := hostlist.Ranges(l.Below)
		if l.Below == nil {
			far = c.endName(l.V, l.Ends[1])
		}
		add(there, "bandwidth towards "+far, quantity.Rate)
		add(back, "bandwidth from "+far, quantity.Rate)
	}
	return strings.Join(parts, "; ")
}

// timesAs says how many times as slow something is, or as fast; at least so many times as fast where the
// latency is too short to be seen.
func timesAs(slower float64, unseen bool) string {
	switch {
	case slower > 1:
		return fmt.Sprintf("%.3g times as slow", slower)
	case unseen:
		return fmt.Sprintf("at least %.3g times as fast", 1/slower)
	}
	return fmt.Sprintf("%.3g times as fast", 1/slower)
}
