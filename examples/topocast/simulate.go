package main

// simulationHelp explains clusters, faults and placements for the help of commands.
const simulationHelp = `A cluster is one line of text: star:8, tree:2x4x8, fattree:8,8;1,4, torus:4x4 hosts=8, dragonfly:2,4,2,
"core:4 socket:2 host:16", followed by latency= and rate= per level from coarse to fine. A file is a network of topocast
discover, a graph, or a platform file, with all latencies and bandwidths. --fault says what is
slow, by how much and when, with hosts and switches by their names, or else by their numbers. Faults of the same link or host multiply:

  link A-B 1.5x               latency 1.5 times, rate 1/1.5, both ways
  link A-B latency=1.5x rate=0.9x
  direction A>B 1.5x          one way alone
  uplink h8-h11 1.5x          the link above these hosts
  host A 1.2x                 its overheads and its links
  software A 1.2x             its overheads alone
  load 1.3x                   all links
  switch S rate=0.6x          of what its links bring, what it carries
  card A rate=0.5x            the same of a host's network card, both ways
  cable A-B rate=0.5x         one of the two cables of a link
  host A at B                 wrong cable: at switch B, or that of host B
  lost 7                      rank 7 is gone; lost 7 from=2ms: later
  noise 3% outliers=2% seed=7 of all timings; 1 % otherwise

  from=2s until=5s            when a fault is there, in virtual time
  over=10s                    it grows for so long: a drift
  on=1/3 every=10ms           it comes and goes, for a third of the time`
