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

// The libraries of the process that are named like one of MPI's.
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

// tp_look_up looks for a name in the whole process or behind this library. Then it looks into the
// libraries themselves: Python opens them so that their names are not the whole process's.
static void *tp_look_up(void *where, const char *name) {
	void *at = dlsym(where, name);
	if (at != NULL)
		return at;
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

void *tp_symbol_behind(const char *name) { return tp_look_up(RTLD_NEXT, name); }

void *tp_symbol(const char *name) {
	void *at = tp_look_up(RTLD_DEFAULT, name);
	Dl_info found, own;
	int is_own = at != NULL && dladdr(at, &found) != 0 && dladdr(&tp_mpi, &own) != 0 && found.dli_fbase == own.dli_fbase;
	return is_own ? tp_symbol_behind(name) : at;
}

// MPICH 3.4 to 5, and its kin: Intel MPI, MVAPICH, Cray MPICH. Its handles are ints.
static const tp_abi tp_mpich = {
	.mask = UINT32_MAX,
	.comm_world = 0x44000000, .comm_self = 0x44000001, .comm_null = 0x04000000,
	.type_null = 0x0c000000, .byte = 0x4c00010d, .real = 0x4c00080b,
	.min = 0x58000002, .errors_return = 0x54000001,
	.in_place = (void *)-1, .thread_multiple = 3, .err_truncate = 14, .err_other = 15,
};

// The standard ABI of MPI 5 (MPI 5.0, appendix A), of whichever library. Its handles are small numbers.
static const tp_abi tp_standard = {
	.mask = UINTPTR_MAX,
	.comm_world = 0x101, .comm_self = 0x102, .comm_null = 0x100,
	.type_null = 0x200, .byte = 0x247, .real = 0x214,
	.min = 0x22, .errors_return = 0x143,
	.in_place = (void *)1, .thread_multiple = 4096, .err_truncate = 15, .err_other = 16,
};

// Open MPI 4 to 6. Its handles are the addresses of variables of the library.
static int tp_find_openmpi(tp_abi *a) {
	const struct {
		const char *name;
		tp_handle *handle;
	} handles[] = {
		{"ompi_mpi_comm_world", &a->comm_world}, {"ompi_mpi_comm_self", &a->comm_self},
		{"ompi_mpi_comm_null", &a->comm_null}, {"ompi_mpi_datatype_null", &a->type_null},
		{"ompi_mpi_byte", &a->byte}, {"ompi_mpi_double", &a->real},
		{"ompi_mpi_op_min", &a->min}, {"ompi_mpi_errors_return", &a->errors_return},
	};
	*a = (tp_abi){.mask = UINTPTR_MAX, .in_place = (void *)1, .thread_multiple = 3, .err_truncate = 15, .err_other = 16};
	int found = 1;
	for (unsigned i = 0; i < sizeof handles / sizeof *handles; i++)
		found &= (*handles[i].handle = (tp_handle)tp_symbol(handles[i].name)) != 0;
	return found;
}

// tp_tell_abi tells the ABI by what the library says of itself. The standard ABI comes first: beside
// Open MPI's library of that ABI stands one with the other names.
static int tp_tell_abi(const char *version) {
	int (*ask)(int *, int *) = tp_symbol("PMPI_Abi_get_version"), major = -1, minor = -1;
	if (ask != NULL && ask(&major, &minor) == TP_SUCCESS && major >= 0) {
		tp_mpi.abi = tp_standard;
		return major == 1;
	}
	if (tp_symbol("ompi_mpi_comm_world") != NULL)
		return strncmp(version, "Open MPI", 8) == 0 && tp_find_openmpi(&tp_mpi.abi);
	tp_mpi.abi = tp_mpich;
	return strstr(version, "MPICH") != NULL || strstr(version, "Intel(R) MPI") != NULL || strstr(version, "MVAPICH") != NULL;
}

static void tp_find_library(void) {
	static char version[8192]; // what MPI_MAX_LIBRARY_VERSION_STRING is at most
	int (*ask)(char *, int *) = tp_symbol("PMPI_Get_library_version"), n, missing = 0;
	if (ask != NULL && ask(version, &n) != TP_SUCCESS)
		version[0] = 0;
	version[strcspn(version, "\n")] = 0;
#define X(call, ...) missing += (tp_mpi.call = (int (*)(__VA_ARGS__))tp_symbol("PMPI_" #call)) == NULL;
	TP_CALLS(X)
#undef X
	tp_mpi.Type_get_envelope_c = tp_symbol("PMPI_Type_get_envelope_c");
	if (tp_mpi.Bcast == NULL) {
		fprintf(stderr, "topocast: this program calls MPI_Bcast, but no library of the process has PMPI_Bcast: run it without the preloaded library\n");
		exit(1);
	}
	tp_mpi.is_known = tp_tell_abi(version) && !missing;
	if (!tp_mpi.is_known)
		fprintf(stderr, "topocast: broadcasts are left to MPI: the ABI of the library \"%s\" is not known\n", version);
	__atomic_store_n(&tp_is_open, 1, __ATOMIC_RELEASE);
}

void tp_open_library(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, tp_find_library);
}
