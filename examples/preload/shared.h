// What the part in C (hook) and the part in Go (library.go) share.

#ifndef TOPOCAST_SHARED_H
#define TOPOCAST_SHARED_H

#include <stdint.h>

// A class of sizes c holds the messages of more than 2^(c-1) and at most 2^c bytes, as in package bcast.
enum { TP_CLASSES = 64 };

// The variants of a broadcast: not decided yet, and native meanwhile; native, the MPI library's; a Broadcaster's.
enum { TP_OPEN, TP_NATIVE, TP_OURS };

// A tp_choice is the decision for a class of sizes and a root.
typedef struct {
	int32_t variant;
	float gain; // s, by which a broadcast of ours is estimated to be faster than a native one
} tp_choice;

// How a broadcast of ours has ended.
enum { TP_DONE, TP_TRUNCATED, TP_FAILED };

// A tp_tally is what is counted of a class of sizes.
typedef struct {
	int64_t calls, ours, bytes;
	double seconds; // of all calls, estimated from the timed ones
	double gain;    // s
} tp_tally;

// A tp_lookup returns the address of a function that package mpi calls; NULL: there is none.
typedef void *(*tp_lookup)(const char *name);

#endif
