// Wrong arguments, on a communicator that has broadcast before: the classes of the errors, and how often
// the handlers of errors were called.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int called = 0;

static void handler(MPI_Comm *comm, int *code, ...) { called++; }

static void tell(const char *what, int code) {
	int class;
	MPI_Error_class(code, &class);
	printf("%s: %s, handler called %d times\n", what, class == MPI_SUCCESS ? "success"
		: class == MPI_ERR_ROOT ? "root" : class == MPI_ERR_COUNT ? "count" : class == MPI_ERR_TYPE ? "type"
		: class == MPI_ERR_COMM ? "communicator" : class == MPI_ERR_BUFFER ? "buffer" : class == MPI_ERR_ARG ? "argument" : class == MPI_ERR_OP ? "operation" : "other", called);
	called = 0;
}

// all makes all mistakes. Each library reads from where another has an error.
static void all(MPI_Comm comm, int size) {
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int n;
	MPI_Get_library_version(version, &n);
	static char buf[100000];
	MPI_Datatype loose;
	MPI_Type_vector(100, 10, 20, MPI_INT, &loose); // never committed
	tell("right", MPI_Bcast(buf, sizeof buf, MPI_CHAR, 0, comm));
	tell("root -1", MPI_Bcast(buf, 5000, MPI_CHAR, -1, comm));
	tell("root too large", MPI_Bcast(buf, 5000, MPI_CHAR, size, comm));
	tell("count -1", MPI_Bcast(buf, -1, MPI_CHAR, 0, comm));
	tell("no type", MPI_Bcast(buf, 5000, MPI_DATATYPE_NULL, 0, comm));
	tell("type not committed", MPI_Bcast(buf, 1, loose, 0, comm));
	if (strstr(version, "MPICH") != NULL)
		tell("nowhere", MPI_Bcast(NULL, 5000, MPI_CHAR, 0, comm));
	else
		tell("in place", MPI_Bcast(MPI_IN_PLACE, 5000, MPI_CHAR, 0, comm));
	tell("no communicator", MPI_Bcast(buf, 5000, MPI_CHAR, 0, MPI_COMM_NULL));
	tell("right", MPI_Bcast(buf, sizeof buf, MPI_CHAR, size - 1, comm));
	static double own[5000], sum[5000];
	tell("right", MPI_Allreduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, comm));
	tell("right", MPI_Reduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, 0, comm));
	tell("root -1", MPI_Reduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, -1, comm));
	tell("root too large", MPI_Reduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, size, comm));
	tell("no operation", MPI_Allreduce(own, sum, 5000, MPI_DOUBLE, MPI_OP_NULL, comm));
	tell("no operation for the type", MPI_Allreduce(own, sum, 5000, MPI_DOUBLE, MPI_BXOR, comm));
	if (strstr(version, "MPICH") == NULL) { // which crashes
		tell("no type", MPI_Allreduce(own, sum, 5000, MPI_DATATYPE_NULL, MPI_SUM, comm));
		tell("count -1", MPI_Allreduce(own, sum, -1, MPI_DOUBLE, MPI_SUM, comm));
		tell("result in place", MPI_Allreduce(own, MPI_IN_PLACE, 5000, MPI_DOUBLE, MPI_SUM, comm));
	}
	tell("no communicator", MPI_Allreduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, MPI_COMM_NULL));
	tell("right", MPI_Allreduce(own, sum, 5000, MPI_DOUBLE, MPI_SUM, comm));
	MPI_Type_free(&loose);
}

int main(int argc, char **argv) {
	int size;
	MPI_Comm comm;
	MPI_Errhandler counting;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); // of what has no communicator, in MPI 4
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	all(comm, size);
	MPI_Comm_create_errhandler(handler, &counting);
	MPI_Comm_set_errhandler(comm, counting);
	all(comm, size);
	MPI_Comm_free(&comm);
	MPI_Errhandler_free(&counting);
	MPI_Finalize();
	return 0;
}
