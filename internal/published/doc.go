// Package published holds published latencies, and what is known of the machines behind them, for experiments and
// tests of any package: the tables that the papers print, and a few matrices that
// others measured on real machines.
//
// Each matrix is one text file that encode.ReadMatrix and the command reconstruct read too.
// Its comments name the source and what it states. No number is ever corrected, slips of print included.
// They give the unit, and the groups, a line per level, from fine to coarse:
//
//	# unit: us
//	# asked socket: 0-5 6-11
//	# allowed node: 0-11
//
// Groups that are asked for are to be seen in the measurements; allowed ones exist, but
// the measurements do not show them clearly: a method may report them. No other group
// exists. X.rep2.csv and so on are repetitions of X.csv.
//
// The directories are the sources. Papers are cited; the others hold the licence, MIT or BSD,
// under which their numbers were published:
//
//	papers    tables of Bufe 2014, three worked examples and five measured ones
//	cores     cores of one machine: threads, caches, sockets, dies, a mesh without groups
//	apple     clusters of cores of unlike kind, five repetitions in both directions
//	clusters  nodes of eight cores and of two behind switches
//	fabrics   a NUMA machine's distances as its firmware states them
//	wan       wide-area round trips with holes, asymmetry and broken triangles
//
// The groups were never made by clustering the measurements: they follow from the maker's documents,
// the numbering of the cores, or the host name that each rank printed.
package published
