// What the part in C (hook) and the part in Go (library.go) share.

#ifndef TOPOCAST_SHARED_H
#define TOPOCAST_SHARED_H

#include <stdint.h>

// The collectives that are served.
enum { TP_BCAST, TP_ALLREDUCE, TP_REDUCE, TP_COLLECTIVES };

// A class of sizes c holds the messages of more than 2^(c-1) and at most 2^c bytes, as in package bcast.
enum { TP_CLASSES = 64 };

// The variants of a call: not decided yet, and native meanwhile; native, the MPI library's; ours; ours by the network's file, which
// the first call of ours confirms or not.
enum { TP_OPEN, TP_NATIVE, TP_OURS, TP_STORED };

// The numbers that are reduced are those of a family, plus the logarithm to base 2 of their size in bytes.
enum { TP_SIGNED = 0, TP_UNSIGNED = 4, TP_FLOATING = 8 };

// The operations by which numbers are reduced, as package mpi numbers them.
enum { TP_SUM, TP_PRODUCT, TP_MIN, TP_MAX };

// What rank 0 finds out for a collective on a communicator: whether calls of ours may be used, whether by predictions alone
// (TOPOCAST_CHOICE=model), whether the network's file has choices for it, and the patience in s (TOPOCAST_PATIENCE).
enum { TP_ABLE, TP_MODEL, TP_TUNED, TP_PATIENCE, TP_FINDINGS };

// A tp_choice is the decision for a class of sizes and a root.
typedef struct {
	int32_t variant;
	float gain; // s, by which a call of ours is estimated to be faster than a native one
} tp_choice;

// How a call of ours has ended.
enum { TP_DONE, TP_TRUNCATED, TP_FAILED };

// A tp_tally is what is counted of a collective and a class of sizes.
typedef struct {
	int64_t calls, ours, bytes;
	double seconds; // of all calls, estimated from the timed ones
	double gain;    // s
} tp_tally;

// A tp_lookup returns the address of a function that package mpi calls; NULL: there is none.
typedef void *(*tp_lookup)(const char *name);

#endif
