// A program with an MPI library of its own, which no one knows. Collectives of the library tell what they were given.

#include <stdio.h>
#include <string.h>

struct comm { int number; } world = {7};

int PMPI_Get_library_version(char *text, int *n) {
	strcpy(text, "Nobody's MPI 1.0\nof today");
	*n = (int)strlen(text);
	return 0;
}

int PMPI_Bcast(void *buf, int count, long type, int root, struct comm *comm) {
	return printf("%s, %d of type %ld from %d on communicator %d\n", (char *)buf, count, type, root, comm->number) < 0;
}

int PMPI_Allreduce(const void *own, void *buf, int count, long type, int op, struct comm *comm) {
	return printf("%s, %d of type %ld by %d on communicator %d\n", (const char *)own, count, type, op, comm->number) < 0;
}

int PMPI_Reduce(const void *own, void *buf, int count, long type, int op, int root, struct comm *comm) {
	return printf("%s, %d of type %ld by %d to %d on communicator %d\n", (const char *)own, count, type, op, root, comm->number) < 0;
}

int MPI_Allreduce(const void *own, void *buf, int count, long type, int op, struct comm *comm);
int MPI_Reduce(const void *own, void *buf, int count, long type, int op, int root, struct comm *comm);
int MPI_Bcast(void *buf, int count, long type, int root, struct comm *comm);

int main(void) {
	for (int turn = 0; turn < 2; turn++)
		if (MPI_Bcast("text", 5, -3, 1, &world) != 0)
			return 1;
	return MPI_Allreduce("own", NULL, 2, -4, 9, &world) != 0 || MPI_Reduce("own", NULL, 2, -4, 9, 1, &world) != 0;
}
