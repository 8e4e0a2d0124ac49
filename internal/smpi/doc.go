// Package smpi runs schedules and simulated ranks beside SimGrid's SMPI, an
// independent simulator of MPI (Casanova, Giersch, Legrand, Quinson, Suter
// 2014): its platform files as graphs, its defaults as settings of simnet, the
// recorded times of its broadcasts, and the time-independent traces of
// schedules that smpirun replays. It is for tests and benchmarks of any package.
//
// The platforms and recorded times lie beside the module (published.Beside), as
// they may not enter it. smpirun comes with Debian's libsimgrid-dev; what was
// recorded, and the settings, are those of version 3.32.
package smpi
