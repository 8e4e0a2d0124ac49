// Package servet measures what the suite Servet 3.0 does (Gonzalez-Dominguez et al. 2013), for the rules of
// placement.Servet and the ratios of model.Degradation:
//
//	distance, err := servet.Distance(ctx, comm, nil) // how distance slows messages down while all hosts send
//	access, err := servet.Access(ctx, comm, nil)     // how processes of one host slow each other down, see Settings.Resources
//	memory, err := servet.Memory(ctx, comm, nil)     // which ranks share a path to memory
//	caches, err := servet.Caches(ctx, comm, nil)     // which share caches
//	told, warnings, err := servet.FromSystem(comm, nil)    // what the operating system says
//	...
//	settings.Degradation, err = servet.Degradation(distance, access) // on rank 0, for model.New or fit.Network
//	settings.Resources, more = servet.Resources(memory, caches, told)
//
// All but the last two are collective. A model.Network that is there already takes both by its method With.
//
// # Limits
//
// Distance is by the order of hosts in the job: it is that of the machine as far as the scheduler
// numbers neighbours one after the other. Access needs twice as many hosts as ranks per host to be what the paper
// has. Ranks that are bound to no core are bound while Memory and Caches run; what is found holds if they stay
// there. Caches sees those that a random walk through 64-byte lines is slowed down by; on busy or virtual machines the last
// one may drown in what others do. Then the word of the operating system stands, marked as told.
// Two cores that do not use up their path to memory do not show that they share one.
//
// # Design
//
// Distance and Access are patterns of messages that are under way together, which package concurrent measures. Far and
// near distances come first, so that a short budget costs detail.
//
// In Memory and Caches all ranks go from step to step through one barrier, which ends all at one step. Those that have
// nothing to do wait in it. Repetitions go over all steps. So a disturbance hits one repetition of some, which the
// median passes over.
//
// An expected slowdown decides which ranks share a cache, not a fixed one: two working sets in one cache cost what one of
// twice the size costs alone. So sizes at which nothing can be seen are not tried, and slower clocks under load
// do not count.
package servet
