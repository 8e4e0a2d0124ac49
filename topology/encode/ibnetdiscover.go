package encode

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// The lines of ibnetdiscover: a switch or a card with the number of its ports, and below each a line for every port with a cable.
var (
	ibNode = regexp.MustCompile(`^(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"`)
	ibPort = regexp.MustCompile(`^\[(\d+)\](?:\([^)]*\))?\s+"([^"]+)"\[(\d+)\](?:\([^)]*\))?\s*(?:#\s*(?:"([^"]*)")?.*?(?:\b(\d+)x([A-Z]+\d*))?\s*)?$`)
)

// IsIbnetdiscover tells whether a file is what ibnetdiscover prints of an InfiniBand fabric.
func IsIbnetdiscover(data []byte) bool {
	for line := range strings.Lines(string(data[:min(len(data), 64<<10)])) {
		if ibNode.MatchString(line) {
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

// ReadIbnetdiscover reads what ibnetdiscover prints: switches, cards and the cables between them with their rates. A host is called by the
// first word of its cards' description, and cards of one host are one host. Latencies are not known.
func ReadIbnetdiscover(r io.Reader, _ []string) (_ *topology.Graph, err error) {
	defer naming("ibnetdiscover", &err)
	ib := &ibReader{vertexOf: map[string]int{}}
	if err := eachLine(r, ib.line); err != nil {
		return nil, err
	}
	if err := ib.join(); err != nil {
		return nil, err
	}
	return ib.graph(nil)
}

// An ibReader collects nodes by the names of their hosts or their GUIDs.
type ibReader struct {
	sketch
	at       string         // the GUID whose ports are being read
	vertexOf map[string]int // by GUID
	cables   []ibCable
}

// An ibCable is a line of a port; each cable has one at either end.
type ibCable struct {
	from, to         string // GUIDs
	fromPort, toPort string
	description      string  // of the other end
	bandwidth        float64 // B/s; 0: not told
}

// line reads one line of the file.
func (ib *ibReader) line(text string) error {
	text = strings.TrimSpace(text)
	m := ibNode.FindStringSubmatch(text)
	switch {
	case m != nil:
		ib.at = m[2]
		return ib.node(m[1], m[2], m[3])
	case !strings.HasPrefix(text, "["):
		return nil
	case ib.at == "":
		return errors.New("a port before any switch or card")
	}
	return ib.port(ib.at, text)
}

// node adds a switch, or a card of a host.
func (ib *ibReader) node(kind, guid, description string) error {
	id, name, is := guid, guid, kindSwitch
	if words := strings.Fields(description); len(words) > 0 {
		name = words[0]
		if kind != "Switch" {
			id, is = "host "+name, kindHost
		}
	}
	if _, twice := ib.vertexOf[guid]; twice {
		return fmt.Errorf("%s %q is there twice", kind, shorten(guid))
	}
	v, err := ib.vertex(id)
	if err != nil {
		return err
	}
	ib.vertexOf[guid] = v
	ib.vertices[v].name, ib.vertices[v].kind = name, is
	return nil
}

// port reads the line of a port with a cable.
func (ib *ibReader) port(at, line string) error {
	m := ibPort.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%q: want [port] \"GUID\"[port] of the other end", shorten(line))
	}
	c := ibCable{from: at, fromPort: m[1], to: m[2], toPort: m[3], description: m[4]}
	if lanes, err := strconv.Atoi(m[5]); err == nil {
		c.bandwidth = float64(lanes) * laneRates[m[6]] * 1e9 / 8
	}
	ib.cables = append(ib.cables, c)
	return nil
}

// join makes one edge of the two lines of each cable. An end that has no lines of its own is what its GUID says: S- begins those of switches.
func (ib *ibReader) join() error {
	seen := map[[4]string]bool{}
	for _, c := range ib.cables {
		if seen[[4]string{c.to, c.toPort, c.from, c.fromPort}] {
			continue
		}
		seen[[4]string{c.from, c.fromPort, c.to, c.toPort}] = true
		e := unknownEdge()
		if c.bandwidth > 0 {
			e.bandwidth = c.bandwidth
		}
		if _, known := ib.vertexOf[c.to]; !known {
			kind := "Ca"
			if strings.HasPrefix(c.to, "S-") {
				kind = "Switch"
			}
			if err := ib.node(kind, c.to, c.description); err != nil {
				return err
			}
		}
		if e.from, e.to = ib.vertexOf[c.from], ib.vertexOf[c.to]; e.from == e.to {
			continue
		}
		if err := ib.sketch.join(e); err != nil {
			return err
		}
	}
	return nil
}
