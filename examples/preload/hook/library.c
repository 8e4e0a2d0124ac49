#define _GNU_SOURCE
#include "library.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tp_library tp_mpi;
int tp_is_open = 0;

// Libraries of the process that are called like one of MPI's.
enum { TP_CANDIDATES = 8 };
typedef struct {
	char *files[TP_CANDIDATES];
	int n;
} tp_candidates;

static int tp_collect(struct dl_phdr_info *library, size_t size, void *candidates) {
	tp_candidates *c = candidates;
	const char *base = strrchr(library->dlpi_name, '/');
	if (base != NULL && strncmp(base, "/libmpi", 7) == 0 && c->n < TP_CANDIDATES)
		c->files[c->n++] = strdup(library->dlpi_name);
	return 0;
}

void *tp_symbol(const char *name) {
	void *at = dlsym(RTLD_DEFAULT, name);
	if (at != NULL)
		return at;
	// Python opens libraries so that their names are not the whole process's.
	tp_candidates c = {.n = 0};
	dl_iterate_phdr(tp_collect, &c);
	for (int i = 0; i < c.n; i++) {
		void *handle = c.files[i] == NULL ? NULL : dlopen(c.files[i], RTLD_LAZY | RTLD_NOLOAD);
		if (at == NULL && handle != NULL)
			at = dlsym(handle, name);
		if (handle != NULL)
			dlclose(handle);
		free(c.files[i]);
	}
	return at;
}

static void tp_refuse(void) {
	Dl_info own = {.dli_fname = "this library"};
	dladdr(&tp_mpi, &own);
	fprintf(stderr, "topocast: %s was built for another MPI library than this program runs on: preload the other one, or none\n", own.dli_fname);
	exit(1);
}

static void *tp_need(const char *name) {
	void *at = tp_symbol(name);
	if (at == NULL)
		tp_refuse();
	return at;
}

static void tp_find_library(void) {
#ifndef OPEN_MPI
	if (tp_symbol("ompi_mpi_comm_world") != NULL)
		tp_refuse();
#endif
#define X(handle) tp_mpi.handle##_ = tp_need(#handle);
	TP_HANDLES(X)
#undef X
#define X(call) tp_mpi.call = (__typeof__(tp_mpi.call))tp_need("PMPI_" #call);
	TP_CALLS(X)
#undef X
	__atomic_store_n(&tp_is_open, 1, __ATOMIC_RELEASE);
}

void tp_open_library(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, tp_find_library);
}
