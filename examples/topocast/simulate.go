package main

// simulationHelp explains clusters, faults and placements for the help of commands.
const simulationHelp = `A cluster is one line of text: star:8, tree:2x4x8, fattree:8,8;1,4, torus:4x4 hosts=8, dragonfly:2,4,2,
"core:4 socket:2 host:16", followed by latency= and rate= per level from coarse to fine. A file is a network of topocast
discover, a graph, or a platform file, with all latencies and bandwidths. --fault names hosts and switches by their
names or numbers. Faults of the same link or host multiply:

  link A-B 1.5x                   latency 1.5 times, rate 1/1.5, both ways
  link A-B latency=1.5x rate=0.9x
  uplink h8-h11 0.4x              the link above these hosts
  direction A>B rate=0.5x         one way alone
  link A-B 10x at=2s              from then on; direction, too
  switch S rate=0.6x              of what its links bring, what it carries
  host A 1.2x                     its overheads and its links
  host A at B                     wrong cable: at switch B, or that of host B
  lost 7                          rank 7 is gone; lost 7 at=2ms: later`
