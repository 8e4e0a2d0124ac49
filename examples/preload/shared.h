// What the parts of the library in C and in Go share.

#ifndef TOPOCAST_SHARED_H
#define TOPOCAST_SHARED_H

#include <stdint.h>

// What others than the file itself may call: it is compiled with -fvisibility=hidden, so that a call or a variable
// of its own takes no look at a table.
#define TP_VISIBLE __attribute__((visibility("default")))

// A class of sizes holds the messages of more than 2^(c-1) and at most 2^c bytes, as in package bcast.
enum { TP_CLASSES = 64 };

// How broadcasts of a class of sizes from a root are made: not decided, and so by the library;
// by the library; by a Broadcaster.
enum { TP_OPEN, TP_NATIVE, TP_OURS };

typedef struct {
	int32_t way;
	float gain; // s, that a broadcast of ours is estimated to take less than the library's
} tp_choice;

// What is counted of a class of sizes.
typedef struct {
	int64_t calls, ours, bytes;
	double seconds; // of all calls, estimated from those that were timed
	double gain;    // s
} tp_tally;

// A thread of the program takes no signals while it is in Go, but for where it waits for messages: between
// these two. They do nothing on other threads.
TP_VISIBLE void tp_take_signals(void);
TP_VISIBLE void tp_leave_signals(void);

#endif
