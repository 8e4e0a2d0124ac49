// Package encode reads and writes the files in which machines are described:
// latency matrices in CSV as people have them, our own JSON for graphs and
// hierarchies, and what other tools read. The call that most readers need:
//
//	latencies, err := encode.ReadMatrix(file, encode.Microsecond)
//	result, err := linkage.Reconstruct(latencies.Matrix)
//
// # Formats
//
//	latencies in CSV          ReadMatrix, WriteMatrix: any of the common forms,
//	                          with or without names, in s, ms, us or ns
//	"topocast/graph"          ReadGraph, WriteGraph: hosts, switches and links;
//	                          ReadGraph takes platform files as well
//	"topocast/hierarchy"      ReadHierarchy, WriteHierarchy: groups, what speaks
//	                          for them, and warnings; ReadResult, WriteResult:
//	                          the graph and the names of its hosts, too.
//	                          "by_size" is there if the graph was merged of
//	                          several message lengths: per length, ascending,
//	                          {"bytes": 8, "arcs": [[from, to], ...],
//	                          "latency_s": [one per arc, or null]}, and
//	                          "absent" and "absent_latency_s", the same of the
//	                          arcs that other lengths alone have; an arc's
//	                          probability in the graph is the share of lengths
//	                          that have it
//	DOT                       ReadDOT, WriteDOT: Graphviz; the language of
//	                          specifications in Bannikov 2014
//	Trivial Graph Format      ReadTGF, WriteTGF: as in Bufe 2014
//	GraphML                   ReadGraphML, WriteGraphML: yEd, Gephi, networkx
//	platforms of SimGrid      ReadSimGrid, WriteSimGrid
//	hwloc                     ReadHwloc: what cores of a host share, in XML or as synthetic text
//	topology files of LGate   ReadLGate, WriteLGate: the groups alone
//	Slurm's topology.conf     ReadFabric, WriteSlurmConf, WriteSlurmBlocks
//	and topology.yaml         ReadFabric, WriteSlurmYAML, WriteSlurmBlockYAML
//	topograph's JSON          ReadFabric, WriteTopograph
//	ibnetdiscover             ReadIbnetdiscover, WriteIbnetdiscover: an InfiniBand fabric
//	node-link JSON            ReadNodeLink: networkx, NetJSON
//	counts                    ReadCounts: who sends how much to whom
//
// Schedulers take hosts on switches, a Fabric, which NewFabric makes of a graph and a hierarchy.
//
// A network, with its parameters and where it was measured, is a file of package
// model; measurements are one of package measure.
//
// # Limits
//
// Each reader refuses what it does not understand - a later version, an unknown
// key, a cell that is no number - and says where. Files of other tools hold much
// that is not about wiring, such as colours: that is passed over. Matrices have at most 32,768
// hosts. A table is read by its look: table_shape.go lists the rules, table_block.go those by which whole numbers
// above and beside are names.
package encode
