// Package families makes machines with known groups for tests: random trees, fabrics,
// clouds, points in space and flat switches, with the faults that measured
// latencies have. All lists the families; each holds any number of instances, of
// which 0 to 19 are for tuning and 20 to 39 are looked at only when a method is
// judged.
//
// A machine is made in two steps. A layout holds what is: exact latencies of all
// pairs, the true groups, and what is lastingly wrong with hosts and pairs. A measurement
// reads it: noise, outliers, slow rounds, drift, the clock's tick, pairs left out.
//
// The class of a family says what is hard about it, by a letter where it is one of
//
//	A  members of a group see hosts outside unevenly
//	B  the clock is coarse
//	C  pairs differ lastingly and widely, as in clouds
//	D  single hosts are slow
//	E  links are unequal, hosts sit on inner switches
//	F  hosts outside vary among themselves: dragonflies, tori
//	G  times drift during the measurement
//	H  pairs were not measured
//	L  many members times many outsiders at a small step
//	M  leaves of two hosts in large machines
//	N  steps that only hundreds of readings show
//	O  the first rank of each node is slow
//
// and else by the kind of machine.
//
// # Design
//
// internal/gen makes machines from text, for people; the constants of package linkage were chosen
// on those. The families here share no code with it, so that what holds on both was not
// fitted to one generator. They are Go code and not text because nobody but tests reads them, and
// because each fault is one small function.
package families
