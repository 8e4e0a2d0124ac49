// Package harness is what all measurements of ranks have in common: a
// duplicate of the communicator to talk on, its clock, a barrier of all or of some
// ranks that carries a word, and what rank 0 tells and gathers.
//
// All measuring goes in steps between barriers. Rank 0 knows the settings and
// decides; what it decides travels as bytes, so that ranks cannot disagree.
package harness
