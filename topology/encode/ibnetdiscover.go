package encode

import (
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// The lines of ibnetdiscover: a switch or a card with the number of its ports, and below each a line for every port with a cable. Files that
// people write for ibsim call cards Hca, and have no descriptions.
var (
	ibNode = regexp.MustCompile(`^(Switch|H?[Cc]a|Rt)\s+\d+\s+"([^"]+)"(?:\s*#\s*"([^"]*)")?`)
	ibPort = regexp.MustCompile(`^\[(\d+)\](?:\([^)]*\))?\s+"([^"]+)"\s*\[(\d+)\](?:\([^)]*\))?\s*(?:#\s*(?:"([^"]*)")?.*?(?:\b(\d+)x([A-Z]+\d*))?\s*)?$`)
)

// IsIbnetdiscover tells whether a file is what ibnetdiscover prints of an InfiniBand fabric.
func IsIbnetdiscover(data []byte) bool {
	for line := range strings.Lines(string(data[:min(len(data), 64<<10)])) {
		if ibNode.MatchString(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// laneRates are the data rates of one lane in Gbit/s by the names of InfiniBand's speeds (IBTA, volume 2): QDR and slower ones spend a
// fifth on their code, later ones 2 of 66 bits.
var laneRates = map[string]float64{
	"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 13.64, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200,
}

// aggregationNode is in the description of the card inside a switch that sums up for SHARP. It is no host.
const aggregationNode = "Aggregation Node"

// ReadIbnetdiscover reads what ibnetdiscover prints: switches, cards and the cables between them with their rates. A host is called by the
// first word of its cards' description, and cards of one host are one host. Where two cards have the same description, or two switches the same
// first word, it is their maker's, and their names are their GUIDs. Latencies are not known.
func ReadIbnetdiscover(r io.Reader, _ []string) (_ *topology.Graph, warnings []string, err error) {
	defer naming("ibnetdiscover", &err)
	ib := &ibReader{known: map[string]bool{}}
	ib.eachLine(r, ib.line)
	for _, c := range ib.cables { // an end without lines of its own is what its GUID says: S- begins those of switches
		if guid := c.to.guid; !ib.known[guid] {
			ib.addDevice(ibDevice{guid, c.description, strings.HasPrefix(guid, "S-")})
		}
	}
	ib.join(ib.place())
	return ib.graph(nil)
}

// An ibReader collects switches, cards and cables.
type ibReader struct {
	sketch
	devices []ibDevice
	known   map[string]bool // GUIDs of devices
	cables  []ibCable
}

// An ibDevice is a switch or a card.
type ibDevice struct {
	guid, description string
	isSwitch          bool
}

// An ibCable is a line of a port; each cable has one at either end.
type ibCable struct {
	from, to    ibEnd
	description string  // of the device at the other end
	bandwidth   float64 // B/s; NaN: not told
}

// An ibEnd is a port of a device.
type ibEnd struct{ guid, port string }

// line reads one line of the file: of a switch or a card, or of a port of the one before.
func (ib *ibReader) line(text string) {
	text = strings.TrimSpace(text)
	m, port := ibNode.FindStringSubmatch(text), ibPort.FindStringSubmatch(text)
	switch {
	case m != nil && ib.known[m[2]]:
		ib.fail("%s %q is there twice", m[1], shorten(m[2]))
	case m != nil:
		ib.addDevice(ibDevice{m[2], m[3], m[1] == "Switch"})
	case !strings.HasPrefix(text, "["):
	case len(ib.devices) == 0:
		ib.fail("a port before any switch or card")
	case port == nil:
		ib.fail("%q: want [port] \"GUID\"[port] of the other end", shorten(text))
	default:
		bandwidth := math.NaN()
		if lanes, _ := strconv.Atoi(port[5]); lanes > 0 {
			rate, isKnown := laneRates[port[6]]
			if !isKnown {
				ib.fail("speed %sx%s: want one of SDR to XDR, or none", port[5], port[6])
			}
			bandwidth = float64(lanes) * rate * 1e9 / 8
		}
		from := ibEnd{ib.devices[len(ib.devices)-1].guid, port[1]}
		ib.cables = append(ib.cables, ibCable{from, ibEnd{port[2], port[3]}, port[4], bandwidth})
	}
}

// addDevice adds a switch or a card.
func (ib *ibReader) addDevice(d ibDevice) {
	ib.devices = append(ib.devices, d)
	ib.known[d.guid] = true
}

// place makes a vertex of each switch and of each host, and returns them by the GUIDs of switches and cards.
func (ib *ibReader) place() map[string]int {
	mark := func(d ibDevice) string { // of a host or a switch, if no other has it
		if d.isSwitch {
			return "switch " + firstWord(d.description)
		}
		return "card " + d.description
	}
	uses := map[string]int{}
	for _, d := range ib.devices {
		uses[mark(d)]++
	}
	vertexOf := map[string]int{}
	for _, d := range ib.devices {
		if strings.Contains(d.description, aggregationNode) {
			continue
		}
		id, name, kind := d.guid, d.guid, kindSwitch
		if word := firstWord(d.description); word != "" && uses[mark(d)] == 1 {
			name = word
		}
		if !d.isSwitch {
			id, kind = "host "+name, kindHost
		}
		v := ib.vertex(id)
		vertexOf[d.guid] = v
		ib.vertices[v].name, ib.vertices[v].kind = name, kind
	}
	return vertexOf
}

// join makes one edge of the two lines of each cable.
func (ib *ibReader) join(vertexOf map[string]int) {
	seen := map[[2]ibEnd]bool{}
	for _, c := range ib.cables {
		from, isPlaced := vertexOf[c.from.guid]
		to, isPlacedToo := vertexOf[c.to.guid]
		if !isPlaced || !isPlacedToo || from == to || seen[[2]ibEnd{c.to, c.from}] {
			continue
		}
		seen[[2]ibEnd{c.from, c.to}] = true
		e := newEdge(false)
		e.From, e.To, e.Bandwidth = from, to, c.bandwidth
		ib.sketch.join(e)
	}
}

// firstWord is the first word of a text, "" if there is none.
func firstWord(text string) string {
	for word := range strings.FieldsSeq(text) {
		return word
	}
	return ""
}
