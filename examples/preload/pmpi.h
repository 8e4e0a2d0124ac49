// What package mpi includes where it is part of the preloaded library: what it calls of MPI it
// calls by the names that profilers leave alone, which count the program's calls and not ours.
// Where it may wait, the program's signals are taken.

#ifndef TOPOCAST_PMPI_H
#define TOPOCAST_PMPI_H

#include <mpi.h>
#include "shared.h"

// The preloaded library knows when MPI ends (comms.c): package mpi need not watch for that.
#define TC_IS_TOLD_OF_THE_END

// A call that may wait for other ranks.
#define TP_WAITING(call) \
	({ \
		tp_take_signals(); \
		int tp_code = call; \
		tp_leave_signals(); \
		tp_code; \
	})

#define MPI_Allgather(...) TP_WAITING(PMPI_Allgather(__VA_ARGS__))
#define MPI_Allgatherv(...) TP_WAITING(PMPI_Allgatherv(__VA_ARGS__))
#define MPI_Allreduce(...) TP_WAITING(PMPI_Allreduce(__VA_ARGS__))
#define MPI_Alltoall(...) TP_WAITING(PMPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) TP_WAITING(PMPI_Alltoallv(__VA_ARGS__))
#define MPI_Bcast(...) TP_WAITING(PMPI_Bcast(__VA_ARGS__))
#define MPI_Comm_create(...) TP_WAITING(PMPI_Comm_create(__VA_ARGS__))
#define MPI_Comm_dup(...) TP_WAITING(PMPI_Comm_dup(__VA_ARGS__))
#define MPI_Comm_free(...) TP_WAITING(PMPI_Comm_free(__VA_ARGS__))
#define MPI_Comm_split(...) TP_WAITING(PMPI_Comm_split(__VA_ARGS__))
#define MPI_Gather(...) TP_WAITING(PMPI_Gather(__VA_ARGS__))
#define MPI_Gatherv(...) TP_WAITING(PMPI_Gatherv(__VA_ARGS__))
#define MPI_Improbe(...) TP_WAITING(PMPI_Improbe(__VA_ARGS__))
#define MPI_Mprobe(...) TP_WAITING(PMPI_Mprobe(__VA_ARGS__))
#define MPI_Mrecv(...) TP_WAITING(PMPI_Mrecv(__VA_ARGS__))
#define MPI_Recv(...) TP_WAITING(PMPI_Recv(__VA_ARGS__))
#define MPI_Reduce(...) TP_WAITING(PMPI_Reduce(__VA_ARGS__))
#define MPI_Scatter(...) TP_WAITING(PMPI_Scatter(__VA_ARGS__))
#define MPI_Scatterv(...) TP_WAITING(PMPI_Scatterv(__VA_ARGS__))
#define MPI_Send(...) TP_WAITING(PMPI_Send(__VA_ARGS__))
#define MPI_Ssend(...) TP_WAITING(PMPI_Ssend(__VA_ARGS__))
#define MPI_Test(...) TP_WAITING(PMPI_Test(__VA_ARGS__))
#define MPI_Wait(...) TP_WAITING(PMPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) TP_WAITING(PMPI_Waitall(__VA_ARGS__))

#define MPI_Abort PMPI_Abort
#define MPI_Comm_create_keyval PMPI_Comm_create_keyval
#define MPI_Comm_free_keyval PMPI_Comm_free_keyval
#define MPI_Comm_get_errhandler PMPI_Comm_get_errhandler
#define MPI_Comm_group PMPI_Comm_group
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_set_attr PMPI_Comm_set_attr
#define MPI_Comm_set_errhandler PMPI_Comm_set_errhandler
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Errhandler_free PMPI_Errhandler_free
#define MPI_Error_class PMPI_Error_class
#define MPI_Error_string PMPI_Error_string
#define MPI_Finalize PMPI_Finalize
#define MPI_Finalized PMPI_Finalized
#define MPI_Get_count PMPI_Get_count
#define MPI_Get_library_version PMPI_Get_library_version
#define MPI_Get_processor_name PMPI_Get_processor_name
#define MPI_Group_free PMPI_Group_free
#define MPI_Iallgather PMPI_Iallgather
#define MPI_Iallgatherv PMPI_Iallgatherv
#define MPI_Iallreduce PMPI_Iallreduce
#define MPI_Ialltoall PMPI_Ialltoall
#define MPI_Ialltoallv PMPI_Ialltoallv
#define MPI_Ibarrier PMPI_Ibarrier
#define MPI_Ibcast PMPI_Ibcast
#define MPI_Igather PMPI_Igather
#define MPI_Igatherv PMPI_Igatherv
#define MPI_Imrecv PMPI_Imrecv
#define MPI_Init_thread PMPI_Init_thread
#define MPI_Initialized PMPI_Initialized
#define MPI_Irecv PMPI_Irecv
#define MPI_Ireduce PMPI_Ireduce
#define MPI_Iscatter PMPI_Iscatter
#define MPI_Iscatterv PMPI_Iscatterv
#define MPI_Isend PMPI_Isend
#define MPI_Issend PMPI_Issend
#define MPI_T_cvar_get_index PMPI_T_cvar_get_index
#define MPI_T_cvar_handle_alloc PMPI_T_cvar_handle_alloc
#define MPI_T_cvar_handle_free PMPI_T_cvar_handle_free
#define MPI_T_cvar_read PMPI_T_cvar_read
#define MPI_T_finalize PMPI_T_finalize
#define MPI_T_init_thread PMPI_T_init_thread

#endif
