/* bcast BYTES RANKS ...: for each pair of arguments, broadcasts from rank 0 to the first RANKS ranks and checks each byte. The
   variable BROADCAST is the number of the pair. Before that all ranks meet at a barrier and add a number. Rank 0 prints the
   library's version, and each rank its host. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void broadcast(MPI_Comm comm, int rank, int bytes)
{
    char *buf = malloc(bytes + 1);

    memset(buf, rank, bytes);
    MPI_Bcast(buf, bytes, MPI_BYTE, 0, comm);
    for (int i = 0; i < bytes; i++)
        if (buf[i] != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    free(buf);
}

int main(int argc, char **argv)
{
    int rank, size, length, one = 1, sum;
    char version[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME], number[16];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    if (rank == 0)
        printf("%s\n", version);
    MPI_Get_processor_name(host, &length);
    printf("host %s\n", host);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; 2 * i + 2 < argc; i++) {
        int bytes = atoi(argv[2 * i + 1]), ranks = atoi(argv[2 * i + 2]);
        MPI_Comm comm = MPI_COMM_WORLD;

        if (ranks < size)
            MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        snprintf(number, sizeof number, "%d", i);
        setenv("BROADCAST", number, 1);
        if (comm != MPI_COMM_NULL)
            broadcast(comm, rank, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
