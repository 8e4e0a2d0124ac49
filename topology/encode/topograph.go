package encode

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/jsonfile"
)

// topographFile is the layout of the instances that topograph's engine "graph" gives out.
type topographFile struct {
	Instances []topographInstance `json:"instances"`
}

// A topographInstance is a host. Its layers are the switches above it, the nearest, tier 0, first.
type topographInstance struct {
	ID         string          `json:"id"`
	Layers     []string        `json:"network_layers"`
	Labels     json.RawMessage `json:"labels,omitempty"`     // of accelerators; not read
	Type       json.RawMessage `json:"type,omitempty"`       // likewise, as are
	Attributes json.RawMessage `json:"attributes,omitempty"` // those of versions before 1.0
}

// WriteTopograph writes the JSON in which topograph hands out what it knows of a cluster: for each
// host, in a natural order, the names of the switches above it, the nearest (tier 0) first. Hosts
// may have different numbers of switches above them.
func WriteTopograph(w io.Writer, f *Fabric) (err error) {
	defer naming("topograph", &err)
	if err := f.check(); err != nil {
		return err
	}
	out := topographFile{Instances: []topographInstance{}}
	f.walk(func(s *FabricSwitch, above []*FabricSwitch) {
		layers := []string{s.Name}
		for _, a := range above {
			layers = append(layers, a.Name)
		}
		for _, host := range s.Hosts {
			out.Instances = append(out.Instances, topographInstance{ID: host, Layers: layers})
		}
	})
	slices.SortFunc(out.Instances, func(a, b topographInstance) int { return hostlist.Naturally(a.ID, b.ID) })
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// readTopograph reads what WriteTopograph writes, and topograph itself: labels are passed over. It
// refuses hosts without a switch or given twice, and switches below two others.
func readTopograph(r io.Reader) (_ *Fabric, err error) {
	defer naming("topograph", &err)
	var file topographFile
	if err := jsonfile.Decode(r, &file); err != nil {
		return nil, err
	}
	if len(file.Instances) > maxNames {
		return nil, fmt.Errorf("%d instances: want at most %d", len(file.Instances), maxNames)
	}
	list := switchList{strict: true}
	records := make(map[string]*switchRecord)
	nextOf := make(map[string]string) // switch -> the one above it, "" if there is none
	for i, x := range file.Instances {
		list.place = fmt.Sprintf("instance %d, %q: ", i+1, shorten(x.ID))
		if len(x.Layers) == 0 || len(x.Layers) > deepest {
			list.fail("%d network layers: want 1 to %d", len(x.Layers), deepest)
			break
		}
		above := append(x.Layers[1:], "") // of each layer
		for tier, name := range x.Layers {
			list.check(checkSwitch(name))
			next := above[tier]
			if records[name] == nil {
				records[name], nextOf[name] = &switchRecord{place: list.place, name: name}, next
				list.records = append(list.records, records[name])
			}
			switch known := nextOf[name]; {
			case known == next:
			case known != "" && next != "":
				list.fail("switch %q is below %q, and was below %q before", name, next, known)
			default:
				list.fail("nothing above switch %q, which is below %q elsewhere", name, known+next)
			}
		}
		leaf := records[x.Layers[0]]
		leaf.hosts = append(leaf.hosts, x.ID)
	}
	for _, r := range list.records {
		if upper := records[nextOf[r.name]]; upper != nil {
			upper.switches = append(upper.switches, r.name)
		}
	}
	return list.fabric()
}
