/* Broadcasts as many bytes as the argument says from rank 0, after a barrier and a sum, and looks at each. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, one = 1, sum, size = atoi(argv[argc - 1]);
    char *buf = malloc(size + 1);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    memset(buf, rank, size);
    MPI_Bcast(buf, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (buf[i] != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
