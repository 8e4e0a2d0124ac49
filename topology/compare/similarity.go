package compare

import "github.com/topocast/topocast/topology"

// Similarity is the measure of Bannikov and Salnikov 2014, section 2.3, in percent: the mean, over the arcs between hosts
// of the reference, of the probability with which the measured graph has them. Hosts are matched by their names. Measured
// hosts of one name are processes of one node, of whose arcs the likeliest counts. Arcs of nodes
// that were not measured do not count. It is NaN if no arc counts.
func Similarity(measured, reference *topology.Graph) float64 {
	_, processes := nodesOf(measured)
	sum, count := 0.0, 0
	for _, a := range reference.Arcs() {
		if a.From >= reference.Hosts() || a.To >= reference.Hosts() {
			continue
		}
		from, to := processes[reference.Name(a.From)], processes[reference.Name(a.To)]
		if len(from) == 0 || len(to) == 0 {
			continue
		}
		likeliest := 0.0
		for _, u := range from {
			for _, v := range to {
				if i := measured.ArcIndex(u, v); i >= 0 {
					likeliest = max(likeliest, measured.Arcs()[i].Probability)
				}
			}
		}
		sum += likeliest
		count++
	}
	return 100 * sum / float64(count)
}
