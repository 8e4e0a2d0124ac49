// Package schedule says who sends what to whom in a broadcast or a reduction, and in which
// order: plain data that packages bcast and reduce carry out, Check proves right and
// package predict tells the time of.
//
//	err := schedule.Check(schedule.Chain{}, schedule.Problem{Ranks: 8, Root: 3, Bytes: 1 << 20, Segment: 8 << 10})
//
// An Algorithm is one file: it prepares the part of each rank. Flat, Chain, KChain,
// Binary, SplitBinary, Binomial, KNomial and Circulant are those of the literature,
// and package classic has more. They know places in
// a row, in which the ranks of a group stand together (but for Binomial, which
// looks at no group). MultiLevel enters each group of the machine once, as MagPIe
// does (Kielmann et al. 1999; Reinfjell 2023, section 6.4.2). Yours may be one
// more: whoever takes algorithms takes any.
//
// A Reduction combines the values of all ranks. Reduce is a broadcast along a tree backwards, and Allreduce goes there and back. In
// a Core ranks exchange parts of the vector.
//
// An algorithm in which each rank has one parent prepares a Tree. Others prepare Steps, a PartOf or what ByPlace returns.
// One with settings lists those that are worth a try (Varied).
package schedule
