// Package results has the JSON that the command topocast prints with --json, as types that a Go program decodes:
//
//	found, err := results.Read[results.Comparison](file) // of topocast compare --json
//
// Networks, hierarchies and benchmarks of broadcasts have types and readers of their own: model.Read,
// encode.ReadHierarchy, bcast.Report. Keys carry the unit of their values. Values that are not known are null
// or left out. A format keeps its meaning within a version; keys may be added. JSON Schemas are in docs/reference/json.
package results

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/compare"
)

// A Head is the beginning of every result. The tags of the field in each type are its format.
type Head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// A Result is a type of this package that stands for a whole format.
type Result interface {
	Check | Changes | Comparison | FabricComparison | Correction | Cut | Discovery | Measured | Placement | Prediction | Rules | Tuning
}

// headOf is the head of a result, and the one that its type asks for.
func headOf[T Result](result *T) (found *Head, want Head) {
	field, _ := reflect.TypeFor[T]().FieldByName("Head")
	version, _ := strconv.Atoi(field.Tag.Get("version"))
	return reflect.ValueOf(result).Elem().FieldByIndex(field.Index).Addr().Interface().(*Head), Head{field.Tag.Get("format"), version}
}

// Read reads one result. It refuses other formats, other versions and unknown keys.
func Read[T Result](r io.Reader) (*T, error) {
	var result T
	if err := jsonfile.Decode(r, &result); err != nil {
		return nil, fmt.Errorf("results: read: %w", err)
	}
	if found, want := headOf(&result); *found != want {
		return nil, fmt.Errorf("results: read: format %q, version %d: want %q, version %d", found.Format, found.Version, want.Format, want.Version)
	}
	return &result, nil
}

// Write writes a result. It sets the head to that of the format.
func Write[T Result](w io.Writer, result *T) error {
	head, want := headOf(result)
	*head = want
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("results: write: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// A Check is what topocast check --json prints: the hosts and links that are slow.
type Check struct {
	Head `format:"topocast/check" version:"1"`

	Hosts            int       `json:"hosts"`
	Pairs            int       `json:"pairs"` // that were measured, repeats counted
	Rounds           int       `json:"rounds"`
	Complete         bool      `json:"complete"` // or else it ended early, could not judge a switch, or hosts were too few
	Noise            float64   `json:"noise"`    // spread of measurements of short messages, a share
	Links            int       `json:"links"`
	UnreadLinks      int       `json:"unread_links"`      // whose latency was not measured
	UnreadDirections int       `json:"unread_directions"` // whose rate was not measured
	Suspects         []Suspect `json:"suspects"`          // the most suspicious first
	Warnings         []string  `json:"warnings"`
}

// A Suspect is a host or a link that was measured twice.
type Suspect struct {
	Name     string    `json:"name"`
	Cable    string    `json:"or_cable_to,omitempty"`
	Same     []string  `json:"or,omitempty"` // what cannot be told from it
	Named    bool      `json:"named"`        // it is slow
	P        *float64  `json:"p"`            // the least of its findings
	Findings []Finding `json:"findings"`
}

// A Finding is one way in which a suspect is slow.
type Finding struct {
	What         string   `json:"what"`
	From         string   `json:"from,omitempty"`
	To           string   `json:"to,omitempty"`
	Factor       *float64 `json:"factor"` // times as long as usual
	Low          *float64 `json:"low"`    // of the 95 % interval
	High         *float64 `json:"high"`
	Often        float64  `json:"often"`           // share of the measurements in which it was slow; 1: it always is
	Since        int      `json:"since,omitempty"` // the round from which on it is slow, of those from 1 on, if it was not before
	P            *float64 `json:"p"`               // corrected for the number of tests; null: not known, as the wiring is not
	Measurements int      `json:"readings"`
}

// Changes are what topocast check --history --json prints: what has changed since earlier runs.
type Changes struct {
	Head `format:"topocast/changes" version:"1"`

	Runs    int      `json:"runs"`
	Series  int      `json:"series"`
	Samples int      `json:"samples"` // that were judged
	Changes []Change `json:"changes"`
}

// A Change is a step of a host, a link or a pair of hosts.
type Change struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Told     string  `json:"told"`  // the run that shows it
	Since    string  `json:"since"` // the run in which it began
	Newest   bool    `json:"newest"`
	Factor   float64 `json:"factor"` // times as long as before
	Strength float64 `json:"strength"`
	Pairs    int     `json:"pairs,omitempty"`
}

// A Comparison is what topocast compare --json prints of two networks.
type Comparison struct {
	Head `format:"topocast/comparison" version:"2"`

	Status       int          `json:"status"` // the exit status
	Hosts        int          `json:"hosts"`  // that both have
	HostsMissing []string     `json:"hosts_missing"`
	HostsExtra   []string     `json:"hosts_extra"`
	Latency      *float64     `json:"latency_times,omitempty"` // the middle link is so many times as slow
	Bandwidth    *float64     `json:"bandwidth_times,omitempty"`
	Similarity   *float64     `json:"similarity_percent,omitempty"`
	Misfit       *float64     `json:"misfit,omitempty"`
	Judged       int          `json:"links_judged"`
	Unknown      string       `json:"unknown,omitempty"` // why latencies could not be compared
	Warnings     []string     `json:"warnings,omitempty"`
	Levels       []Level      `json:"levels"`
	Differences  []Difference `json:"differences"` // the worst first
	Links        []Link       `json:"links"`       // the worst first
	Groups       *Groups      `json:"groups,omitempty"`
}

// A Level is what the links of one level have in common, and their relative spread.
type Level struct {
	Name            string   `json:"name"`
	Links           int      `json:"links"`
	Latency         *float64 `json:"latency_times,omitempty"`
	LatencySpread   *float64 `json:"latency_spread,omitempty"`
	Bandwidth       *float64 `json:"bandwidth_times,omitempty"`
	BandwidthSpread *float64 `json:"bandwidth_spread,omitempty"`
}

// A Difference is a link, a host or a group that is not as in the reference.
type Difference struct {
	What   string          `json:"what"`
	Kind   compare.Verdict `json:"kind"`
	Link   *int            `json:"link,omitempty"` // index into links
	Hosts  []string        `json:"hosts"`
	From   []string        `json:"from,omitempty"`
	To     []string        `json:"to,omitempty"`
	Times  *float64        `json:"times,omitempty"`
	Reason string          `json:"reason"`
}

// A Link is a link of the reference with what was measured on it.
type Link struct {
	Name      string          `json:"name"`
	Level     string          `json:"level"`
	Verdict   compare.Verdict `json:"verdict"`
	Below     []string        `json:"below,omitempty"` // hosts behind it
	Ends      [][]string      `json:"ends,omitempty"`  // hosts at both ends, where it has none behind it
	Latency   Latency         `json:"latency"`
	Bandwidth [2]Rate         `json:"bandwidth"` // towards the hosts below (the second end), and from them
}

// A Latency is one in s, measured and in the reference.
type Latency struct {
	Measured  *float64        `json:"measured_s,omitempty"`
	Reference *float64        `json:"reference_s,omitempty"`
	Slower    *float64        `json:"times,omitempty"`
	Verdict   compare.Verdict `json:"verdict"`
}

// A Rate is one in B/s, measured and in the reference.
type Rate struct {
	Measured  *float64        `json:"measured_Bps,omitempty"`
	Reference *float64        `json:"reference_Bps,omitempty"`
	Slower    *float64        `json:"times,omitempty"`
	Verdict   compare.Verdict `json:"verdict"`
}

// Groups are confident groups by their hosts.
type Groups struct {
	Same    int        `json:"same"`
	Missing [][]string `json:"missing"`
	Extra   [][]string `json:"extra"`
}

// A FabricComparison is what topocast compare --json prints where the reference is a file of a scheduler.
type FabricComparison struct {
	Head `format:"topocast/fabric-comparison" version:"1"`

	Status       int        `json:"status"` // the exit status
	Hosts        int        `json:"hosts"`  // that both have
	HostsMissing []string   `json:"hosts_missing"`
	HostsExtra   []string   `json:"hosts_extra"`
	Groups       Groups     `json:"groups"`
	Crossed      []Crossing `json:"crossed"` // groups that cannot both be true
	Joined       [][]string `json:"joined"`  // hosts of networks that the file keeps apart
	Differences  []string   `json:"differences"`
}

// A Crossing is a group of each side that overlap, neither inside the other.
type Crossing struct {
	Reference []string `json:"reference"`
	Measured  []string `json:"measured"`
}

// A Correction is what topocast network correct --json prints.
type Correction struct {
	Head `format:"topocast/correction" version:"1"`

	Bytes      int64           `json:"bytes"`
	Forwarding string          `json:"forwarding"`
	Used       int             `json:"readings"`
	Ambiguous  int             `json:"readings_left_out"`
	Fits       []Fit           `json:"fits"`
	Levels     []LevelFit      `json:"levels"`
	Links      []CorrectedLink `json:"links"`
	Warnings   []string        `json:"warnings"`
}

// A Fit tells how well links explain the measurements with one correction.
type Fit struct {
	Forwarding string   `json:"forwarding"`
	R2         *float64 `json:"r2"`              // null: not known
	Residual   *float64 `json:"median_residual"` // a share
}

// A LevelFit is the median residual of a level, a share.
type LevelFit struct {
	Name     string   `json:"name"`
	Residual *float64 `json:"median_residual"`
}

// A CorrectedLink is one direction of a link with its latency in s.
type CorrectedLink struct {
	Ends       [2]string `json:"ends"`
	Vertices   [2]int    `json:"vertices"`
	Before     *float64  `json:"before_s"` // null: not known
	Latency    float64   `json:"latency_s"`
	Determined bool      `json:"determined"` // false: the measurements give only sums with others
}

// A Cut is what topocast network bisect --json prints.
type Cut struct {
	Head `format:"topocast/cut" version:"1"`

	Names     []string   `json:"names"`               // by rank
	Bisection *Bisection `json:"bisection,omitempty"` // of halves that are known
	Unknown   string     `json:"unknown,omitempty"`   // why the halves are not
	Switches  []AtSwitch `json:"switches"`
}

// A Bisection is the two halves of the ranks between which the least bandwidth runs.
type Bisection struct {
	Bandwidth float64   `json:"bandwidth_Bps"` // each way
	OwnLinks  float64   `json:"own_links_Bps"` // what the links of one half's ranks carry
	Exact     bool      `json:"exact"`
	Halves    [2][]int  `json:"halves"`
	Links     []CutLink `json:"links"`
}

// A CutLink is a link between the halves.
type CutLink struct {
	Ends      [2]string  `json:"ends"`
	Bandwidth [2]float64 `json:"bandwidth_Bps"` // from the first end and to it; 0: there is no such direction
	Estimated bool       `json:"estimated"`     // not measured, but typical of its level
}

// AtSwitch are ranks on two sides of a switch, between which all messages pass it.
type AtSwitch struct {
	Name   string   `json:"name"`
	Vertex int      `json:"vertex"`
	Sides  [2][]int `json:"sides"`
}

// A Discovery is what topocast discover --json prints. Its hierarchy is of the format topocast/hierarchy, which
// encode.ReadHierarchy reads.
type Discovery struct {
	Head `format:"topocast/discovery" version:"1"`

	Network   string          `json:"network_file"`
	Hierarchy json.RawMessage `json:"hierarchy"`
	Times     []TimeOf        `json:"times"`
	Levels    []LevelOf       `json:"levels"`
	Bcast     []Plan          `json:"bcast"`
}

// A TimeOf is the predicted time of one message between ranks of a level.
type TimeOf struct {
	Level string  `json:"level"`
	Bytes int     `json:"bytes"`
	Time  float64 `json:"time_s"`
}

// A LevelOf has the bandwidth of a level and the relative spread of measurements about the predicted times. The bandwidth is
// the rate that the longest timed message had.
type LevelOf struct {
	Level     string   `json:"level"`
	Bandwidth *float64 `json:"bandwidth_Bps,omitempty"`
	Spread    *float64 `json:"spread,omitempty"`
}

// A Plan is how a broadcast from rank 0 would be performed.
type Plan struct {
	Bytes     int     `json:"bytes"`
	Algorithm string  `json:"algorithm"`
	Segment   int     `json:"segment_bytes"`
	Predicted float64 `json:"predicted_s"`
}

// Measured is what topocast measure --json prints. The measurements are in the file.
type Measured struct {
	Head `format:"topocast/measured" version:"1"`

	File         string            `json:"readings_file"`
	Ranks        int               `json:"ranks"`
	Rounds       int               `json:"rounds"`       // of latencies
	TotalRounds  int               `json:"total_rounds"` // of latencies
	Stopped      string            `json:"stopped,omitempty"`
	Measurements int               `json:"readings"` // of latencies
	Warnings     []string          `json:"warnings"`
	Sections     []MeasuredSection `json:"sections"`
}

// A MeasuredSection is one kind of measurement.
type MeasuredSection struct {
	Kind    string     `json:"kind"`
	Rows    int        `json:"rows"`
	Stopped string     `json:"stopped,omitempty"` // early, by "budget" or "context"
	Hosts   []HostPair `json:"host_pairs,omitempty"`

	Resources []Resource `json:"resources,omitempty"` // of kinds that look inside hosts
}

// A Resource is what ranks of a host share, and which: a level of caches with their size, or paths to memory.
type Resource struct {
	Kind      string   `json:"kind"`
	Bytes     int64    `json:"size_bytes,omitempty"`
	Bandwidth *float64 `json:"bandwidth_Bps,omitempty"`
	Groups    [][]int  `json:"groups"`
}

// A HostPair sums up the times between two hosts, in s.
type HostPair struct {
	From         string  `json:"from"`
	To           string  `json:"to"`
	Size         int     `json:"size_bytes"`
	Measurements int     `json:"readings"`
	Min          float64 `json:"min_s"`
	Median       float64 `json:"median_s"`
	Max          float64 `json:"max_s"`
}

// A Prediction is what topocast predict --json prints.
type Prediction struct {
	Head `format:"topocast/prediction" version:"1"`

	Complete float64 `json:"all_complete_s"` // when the last transfer is complete
	model.Prediction
}

// A Placement is what topocast place --json prints.
type Placement struct {
	Head `format:"topocast/placement" version:"1"`

	Ranks   []PlacedRank `json:"ranks"`
	Cost    *float64     `json:"cost_s,omitempty"`          // of the traffic
	InOrder *float64     `json:"cost_in_order_s,omitempty"` // of the traffic with ranks in the order of places
}

// Rules are what topocast bcast rules --json prints: the library's fastest algorithm by size.
type Rules struct {
	Head `format:"topocast/rules" version:"1"`

	Library string       `json:"library"`
	Ranks   int          `json:"ranks"`
	Choices []RuleChoice `json:"choices"` // by size, ascending
}

// A RuleChoice is the fastest setting for one measured size.
type RuleChoice struct {
	Bytes   int64   `json:"bytes"`
	Setting string  `json:"setting"`
	Gain    float64 `json:"gain"` // over the library's own choice; 1 for that itself
}

// A Tuning is what topocast bcast tune --json prints: the decisions of the job, as the network file keeps them.
type Tuning struct {
	Head `format:"topocast/tuning" version:"1"`

	Network   string          `json:"network_file"` // "": nothing was stored
	Measured  bool            `json:"measured"`     // against native MPI_Bcast; or else they are predictions
	Undecided []string        `json:"undecided"`    // sizes for which the budget was too short
	Table     json.RawMessage `json:"bcast_table"`
}

// A PlacedRank is a rank with its place, the number of a rank of the network.
type PlacedRank struct {
	Rank  int    `json:"rank"`
	Place int    `json:"place"`
	Host  string `json:"host,omitempty"`
	Core  *int   `json:"core,omitempty"`
}
