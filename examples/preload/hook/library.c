#define _GNU_SOURCE
#include "library.h"
#include "../shared.h"
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

// The types of numbers that are reduced, each with its family, and the operations. A name without a handle of an ABI is
// looked up in the library, where Open MPI has it behind "ompi_mpi_". MPI_CHAR and MPI_BYTE are no numbers to MPI,
// and Open MPI 4 takes one of MPI_AINT, MPI_COUNT and MPI_OFFSET for unsigned.
typedef struct {
	const char *name;
	tp_handle mpich, standard;
	int meaning;
} tp_named;
static const tp_named tp_types[] = {
	{"signed_char", 0x4c000118, 0x244, TP_SIGNED}, {"short", 0x4c000203, 0x208, TP_SIGNED},
	{"int", 0x4c000405, 0x209, TP_SIGNED}, {"long", 0x4c000807, 0x20a, TP_SIGNED},
	{"long_long_int", 0x4c000809, 0x20b, TP_SIGNED},
	{"int8_t", 0x4c000137, 0x240, TP_SIGNED}, {"int16_t", 0x4c000238, 0x248, TP_SIGNED},
	{"int32_t", 0x4c000439, 0x250, TP_SIGNED}, {"int64_t", 0x4c00083a, 0x258, TP_SIGNED},
	{"integer", 0x4c00041b, 0x219, TP_SIGNED}, {"integer1", 0x4c00012d, 0x2c1, TP_SIGNED},
	{"integer2", 0x4c00022f, 0x2c9, TP_SIGNED}, {"integer4", 0x4c000430, 0x2d1, TP_SIGNED},
	{"integer8", 0x4c000831, 0x2d9, TP_SIGNED},
	{"unsigned_char", 0x4c000102, 0x245, TP_UNSIGNED}, {"unsigned_short", 0x4c000204, 0x20c, TP_UNSIGNED},
	{"unsigned", 0x4c000406, 0x20d, TP_UNSIGNED}, {"unsigned_long", 0x4c000808, 0x20e, TP_UNSIGNED},
	{"unsigned_long_long", 0x4c000819, 0x20f, TP_UNSIGNED}, {"uint8_t", 0x4c00013b, 0x241, TP_UNSIGNED},
	{"uint16_t", 0x4c00023c, 0x249, TP_UNSIGNED}, {"uint32_t", 0x4c00043d, 0x251, TP_UNSIGNED},
	{"uint64_t", 0x4c00083e, 0x259, TP_UNSIGNED},
	{"float", 0x4c00040a, 0x210, TP_FLOATING}, {"double", 0x4c00080b, 0x214, TP_FLOATING},
	{"real", 0x4c00041c, 0x21a, TP_FLOATING}, {"dblprec", 0x4c00081f, 0x21c, TP_FLOATING},
	{"real4", 0x4c000427, 0x2d2, TP_FLOATING}, {"real8", 0x4c000829, 0x2da, TP_FLOATING},
};
static const tp_named tp_operations[] = {
	{"op_sum", 0x58000003, 0x21, TP_SUM}, {"op_prod", 0x58000004, 0x24, TP_PRODUCT},
	{"op_min", 0x58000002, 0x22, TP_MIN}, {"op_max", 0x58000001, 0x23, TP_MAX},
};
enum { TP_TYPES = sizeof tp_types / sizeof *tp_types, TP_OPERATIONS = sizeof tp_operations / sizeof *tp_operations };
static tp_handle tp_type_handles[TP_TYPES], tp_operation_handles[TP_OPERATIONS]; // 0: the library has none

static void tp_find_handles(const tp_named *all, int n, tp_handle *handles) {
	char name[64];
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "ompi_mpi_%s", all[i].name);
		handles[i] = tp_mpi.abi.comm_world == tp_mpich.comm_world ? all[i].mpich
		           : tp_mpi.abi.comm_world == tp_standard.comm_world ? all[i].standard : (tp_handle)tp_symbol(name);
	}
}

static int tp_meaning(const tp_named *all, int n, const tp_handle *handles, tp_handle handle) {
	for (int i = 0; i < n; i++)
		if (handles[i] == handle && handle != 0)
			return all[i].meaning;
	return -1;
}

int tp_family(tp_handle type) { return tp_meaning(tp_types, TP_TYPES, tp_type_handles, type); }

int tp_operation(tp_handle op) { return tp_meaning(tp_operations, TP_OPERATIONS, tp_operation_handles, op); }

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
	if (tp_mpi.Bcast == NULL || tp_mpi.Allreduce == NULL || tp_mpi.Reduce == NULL) {
		fprintf(stderr, "topocast: this program calls MPI, but no library of the process has PMPI_Bcast, PMPI_Allreduce and PMPI_Reduce: run it without the preloaded library\n");
		exit(1);
	}
	tp_mpi.is_known = tp_tell_abi(version) && !missing;
	if (tp_mpi.is_known) {
		tp_find_handles(tp_types, TP_TYPES, tp_type_handles);
		tp_find_handles(tp_operations, TP_OPERATIONS, tp_operation_handles);
	} else
		fprintf(stderr, "topocast: all is left to MPI: the ABI of the library \"%s\" is not known\n", version);
	__atomic_store_n(&tp_is_open, 1, __ATOMIC_RELEASE);
}

void tp_open_library(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, tp_find_library);
}
