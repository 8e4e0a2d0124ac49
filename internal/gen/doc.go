// Package gen makes synthetic clusters from one line of text, the latencies
// that one would measure on them, and the noise of such measurements. Tests,
// the simulated network (whose ParseCluster tells users of the same grammar) and
// the emulated cluster use the same strings:
//
//	star:8                                    8 hosts on one switch
//	tree:2x4x8                                2 pods of 4 racks of 8 hosts
//	tree:[2,5,5]                              racks of 2, 5 and 5 hosts
//	tree:[2,5,5]x8                            pods of 2, 5 and 5 racks of 8 hosts
//	fattree:4                                 the 4-ary fat tree: 16 hosts, 20 switches
//	fattree:4,8                               8 leaf switches of 4 hosts, 4 spines
//	fattree:8,8;1,4                           XGFT(2; 8,8; 1,4): 8 leaf switches of 8 hosts, 4 spines
//	ring:6   line:6                           6 hosts wired to each other
//	torus:8x8   mesh:4x4x4                    hosts wired to each other, 2-D or 3-D
//	ring:6 hosts=4   torus:4x4 hosts=8        switches with as many hosts each
//	dragonfly:2,4,2                           9 groups of 4 routers with 2 hosts and 2 global links each
//	core:4 socket:2 host:16 rack:4            4 racks of 16 hosts of 2 sockets of 4 cores
//
// Options follow, in any order:
//
//	tree:2x2x3 latency=30us,12us,5us rate=100Mbps,100Mbps,200Mbps spread=5% seed=7
//
//	latency=  one way, per link: ns, us, ms, s               default 5us
//	rate=     per direction: bps Kbps Mbps Gbps in bits/s,
//	          Bps KBps MBps GBps in bytes/s                  default 10Gbps
//	spread=   links' latencies differ by up to this share: 0.05 or 5%
//	rate-spread=  the same of rates
//	hosts=    hosts per switch of a ring, line, torus or mesh; 0: no switches
//	routing=  which of several shortest routes is taken: lowest (the default),
//	          modulo (by destination) or ecmp (hashed by source and destination)
//	seed=     of the spreads and of shuffle                  default 0
//	shuffle   numbers the hosts in random order
//
// latency, rate and the spreads take one value for all links, or one per level
// of links, COARSE TO FINE as the tree itself is written: of tree:2x2x3 those
// between root and pods, pods and racks, racks and hosts. Levels are
//
//	tree        one per factor, and one more per nesting of brackets
//	star        host
//	fattree     one per number in the first list: top switches first, hosts last
//	ring, line, torus, mesh   switch to switch, then host to switch; without switches the one level
//	dragonfly   global, local, host
//	core:...    one per name, in the order of coarse to fine whichever way they are written
//
// A number N in a tree says that each switch of that level has N children; a
// list says that it has one child per entry, with as many children in turn,
// and lists nest. The names of the last form are hwloc's (Goglin's synthetic
// strings: pu core l1 l2 l3 die numa socket|package host|node) and rack, pod,
// row; each count is the number per parent, so coarse to fine and fine to
// coarse mean the same. The leaves are the hosts of the graph; their links
// default to what such hardware has.
//
// # Design
//
// Specifications are text, not Go values, because they stand in test tables,
// cluster files and on command lines. Errors name the column. Levels are read
// from coarse to fine because 2x4x8 is.
package gen
