// Package draw makes pictures of machines.
//
//	positions := draw.Layout(graph)
//
// gives each host and switch a place in space, so that whoever draws the wiring has
// nothing left to do but to draw it. Trees and fat trees stand in tiers in a plane: hosts at the bottom, above them
// their switches, each over the middle of what is below it. Any other graph is laid out in three dimensions. Its distances
// are as long as the links' latencies say, as far as that is possible (Bannikov and Salnikov 2014, section 2.2).
//
// HeatMap, Dendrogram, Histogram, Distribution, Plot and Wiring make figures of what was measured and
// found, as SVG and PNG. They take plain numbers, and say below their title what was cut, left
// out or put in another order. Colours are those that the colour-blind can tell apart, or scales
// that become lighter all the way.
//
// WriteReport makes one HTML page of a machine that needs nothing else: the wiring to turn and to
// point at, the same figures, tables, what is uncertain, and how it was measured.
//
// Text writes the wiring as a tree for a terminal, parts that are alike once.
//
// The same input gives the same positions and the same files on every run.
package draw
