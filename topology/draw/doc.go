// Package draw makes pictures of machines.
//
//	positions, err := draw.Layout(graph, nil)
//
// gives each host and switch a place in space, so that whoever draws the wiring has
// nothing left to do but to draw it. A tree hangs in tiers: its hosts in a plane, above them
// their switches, each over the middle of what is below it. Any other graph is laid out
// so that distances are as long as the links' latencies say, as far as three
// dimensions allow (Bannikov and Salnikov 2014, section 2.2).
//
// The same graph gives the same positions on every run.
package draw
