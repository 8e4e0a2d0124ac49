package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/encode"
)

// loadFabric reads what a scheduler is told of a machine (encode.IsFabric); topology is the one to read of a topology.yaml, "" the default. It is
// nil if the file is something else.
func loadFabric(path, topology string) (*encode.Fabric, error) {
	if path == cli.Standard {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	if !encode.IsFabric(data) {
		return nil, nil
	}
	f, err := encode.ReadFabric(data, &encode.FabricSettings{Topology: topology, Folder: filepath.Dir(path)})
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	return f, nil
}

// A fabricComparison says what of a scheduler's switches the measured groups confirm and what
// they contradict.
type fabricComparison struct {
	measured       *comparison.Side
	file           string
	fabric         *encode.Fabric
	hosts          []string // that both have
	missing, extra []string
	groups         *compare.GroupComparison // of hosts by their index
	joined         [][]string               // the hosts of networks that the file keeps apart and messages pass between
	renamed        string                   // how names without domains were matched; "" if none was
}

func compareFabric(measured *comparison.Side, file string, f *encode.Fabric) (*fabricComparison, error) {
	measured, renamed, err := measured.Renamed(f.Hosts())
	if err != nil {
		return nil, err
	}
	r := &fabricComparison{measured: measured, file: file, fabric: f, renamed: renamed}
	known := map[string]bool{}
	for v := range measured.Graph.Hosts() {
		known[measured.Graph.Name(v)] = true
	}
	for _, host := range f.Hosts() {
		if known[host] {
			r.hosts = append(r.hosts, host)
			delete(known, host)
		} else {
			r.missing = append(r.missing, host)
		}
	}
	for host := range known {
		r.extra = append(r.extra, host)
	}
	slices.SortFunc(r.extra, hostlist.Naturally)
	if len(r.hosts) == 0 {
		return nil, fmt.Errorf("compare: no host of %s is in %s", measured.Name, file)
	}
	found, err := measured.Groups(r.hosts)
	if err != nil {
		return nil, err
	}
	specified, err := f.Hierarchy(r.hosts)
	if err != nil {
		return nil, err
	}
	if r.groups, err = compare.Groups(found, specified); err != nil {
		return nil, err
	}
	r.join()
	return r, nil
}

// printFabricComparison is what the command does with a scheduler's file.
func printFabricComparison(c *cobra.Command, measured *comparison.Side, file string, f *encode.Fabric, all bool, shared *cli.Flags) error {
	if err := cli.RefuseUnless(false, c, "the file of a scheduler has no latencies and rates", "tolerance"); err != nil {
		return err
	}
	r, err := compareFabric(measured, file, f)
	if err != nil {
		return cli.BadInput("%w", err)
	}
	said := f.Warnings
	if r.renamed != "" {
		said = append(slices.Clip(said), r.renamed)
	}
	for _, text := range said {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", file, text)
	}
	return printComparison(c, r, all, shared)
}

// join finds the separate networks of the file that are one in the measured graph.
func (r *fabricComparison) join() {
	if len(r.fabric.Roots) < 2 {
		return
	}
	part := map[string]int{}
	for v, p := range r.measured.Graph.Parts() {
		if v < r.measured.Graph.Hosts() {
			part[r.measured.Graph.Name(v)] = p
		}
	}
	roots := map[int][]string{} // part -> the hosts of roots in it
	count := map[int]int{}
	for _, root := range r.fabric.Roots {
		one := encode.Fabric{Roots: []*encode.FabricSwitch{root}}
		in := map[int]bool{}
		for _, host := range one.Hosts() {
			if p, ok := part[host]; ok {
				in[p] = true
				roots[p] = append(roots[p], host)
			}
		}
		for p := range in {
			count[p]++
		}
	}
	for p, hosts := range roots {
		if count[p] > 1 {
			r.joined = append(r.joined, hosts)
		}
	}
	slices.SortFunc(r.joined, slices.Compare)
}

// status is the exit status: what is measured contradicts the file, or nothing can be told.
func (r *fabricComparison) status() int {
	switch {
	case len(r.groups.Crossed)+len(r.joined) > 0:
		return cli.StatusDifferent
	case len(r.groups.Same) == 0 && len(r.groups.Missing) > 0:
		return cli.StatusUnknown
	}
	return cli.StatusFine
}

// names are those of hosts by their index.
func (r *fabricComparison) names(hosts []int) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = r.hosts[h]
	}
	return names
}

// differences are what cannot be true of both, a sentence each: hosts that the measured groups have
// elsewhere, if they tell, or else the groups.
func (r *fabricComparison) differences() []string {
	var list []string
	for _, hosts := range r.joined {
		list = append(list, fmt.Sprintf("%s: messages pass between them, and the file has them in networks that are not connected", hostlist.Ranges(hosts)))
	}
	if len(r.groups.Crossed) == 0 {
		return list
	}
	crossed := map[int]bool{}
	for _, x := range r.groups.Crossed {
		for _, h := range slices.Concat(x.Reference, x.Measured) {
			crossed[h] = true
		}
	}
	told := false
	for _, m := range r.groups.Moved {
		if !crossed[m.Host] {
			continue
		}
		told = true
		list = append(list, fmt.Sprintf("host %s: specified with %s, measured with %s", r.hosts[m.Host],
			r.company(m.Host, func(x compare.Crossing) []int { return x.Reference }), r.company(m.Host, func(x compare.Crossing) []int { return x.Measured })))
	}
	for _, x := range r.groups.Crossed {
		if !told {
			list = append(list, fmt.Sprintf("specified %s, measured %s: neither holds the other", hostlist.Ranges(r.names(x.Reference)), hostlist.Ranges(r.names(x.Measured))))
		}
	}
	return list
}

// company names the other hosts of the smallest group of crossings that holds the host.
func (r *fabricComparison) company(host int, of func(compare.Crossing) []int) string {
	var least []int
	for _, x := range r.groups.Crossed {
		if g := of(x); slices.Contains(g, host) && (least == nil || len(g) < len(least)) {
			least = g
		}
	}
	if least == nil {
		return "others"
	}
	return hostlist.Ranges(r.names(slices.DeleteFunc(slices.Clone(least), func(h int) bool { return h == host })))
}

func (r *fabricComparison) writeText(w io.Writer, all bool) error {
	var b strings.Builder
	reference := fmt.Sprintf("%s, %s", r.file, words.Count(len(r.hosts)+len(r.missing), "host"))
	writeCompared(&b, r.measured, reference, len(r.hosts), r.missing, r.extra)
	fmt.Fprintf(&b, "switches that join hosts: %d as measured, %d not seen, %d measured and not in the file\n", len(r.groups.Same), len(r.groups.Missing), len(r.groups.Extra))
	if all {
		for _, g := range r.groups.Missing {
			fmt.Fprintf(&b, "  not seen: %s\n", hostlist.Ranges(r.names(g)))
		}
		for _, g := range r.groups.Extra {
			fmt.Fprintf(&b, "  not in the file: %s\n", hostlist.Ranges(r.names(g)))
		}
	}
	differences := r.differences()
	switch r.status() {
	case cli.StatusFine:
		fmt.Fprintln(&b, "\nnothing contradicts the file")
	case cli.StatusUnknown:
		fmt.Fprintln(&b, "\ncannot tell: no switch of the file shows in the latencies")
	default:
		fmt.Fprintf(&b, "\n%s\n", words.Count(len(differences), "difference"))
	}
	for i, d := range differences {
		if i == maxFindings && !all {
			fmt.Fprintf(&b, "  and %d more (--all)\n", len(differences)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", d)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *fabricComparison) writeJSON(w io.Writer) error {
	out := results.FabricComparison{
		Head: results.NewHead[results.FabricComparison](), Status: r.status(), Hosts: len(r.hosts), HostsMissing: list(r.missing), HostsExtra: list(r.extra),
		Groups:  results.Groups{Same: len(r.groups.Same), Missing: [][]string{}, Extra: [][]string{}},
		Crossed: []results.Crossing{}, Joined: append([][]string{}, r.joined...), Differences: list(r.differences()),
	}
	for _, g := range r.groups.Missing {
		out.Groups.Missing = append(out.Groups.Missing, r.names(g))
	}
	for _, g := range r.groups.Extra {
		out.Groups.Extra = append(out.Groups.Extra, r.names(g))
	}
	for _, x := range r.groups.Crossed {
		out.Crossed = append(out.Crossed, results.Crossing{Reference: r.names(x.Reference), Measured: r.names(x.Measured)})
	}
	return results.Write(w, &out)
}
