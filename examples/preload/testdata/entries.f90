! Broadcasts and reductions by each way that Fortran has to MPI.

subroutine old(rank, root, wrong)
  implicit none
  include 'mpif.h'
  integer :: rank, root, wrong, ierr, i
  double precision :: x(5000)
  x = 0
  if (rank == root) x = [(dble(i), i = 1, 5000)]
  call MPI_Bcast(x, 5000, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(x /= [(dble(i), i = 1, 5000)]) + ierr
end subroutine

subroutine old_reductions(rank, ranks, wrong)
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, wrong, root, ierr
  integer :: x(3000), y(3000)
  x = rank
  call MPI_Allreduce(x, y, 3000, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(y /= ranks - 1) + ierr
  call MPI_Allreduce(MPI_IN_PLACE, x, 3000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(x /= ranks * (ranks - 1) / 2) + ierr
  do root = 0, ranks - 1
    y = rank
    ! MPICH 4.0 crashes on a longer vector in place at a root that is not rank 0 (pmodels/mpich issue 6540).
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, y, 300, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD, ierr)
      wrong = wrong + count(y(:300) /= 0)
    else
      call MPI_Reduce(y, x, 300, MPI_INTEGER, MPI_MIN, root, MPI_COMM_WORLD, ierr)
      wrong = wrong + count(y /= rank)
    end if
    wrong = wrong + ierr
  end do
end subroutine

subroutine module90(rank, root, wrong)
  use mpi
  implicit none
  integer :: rank, root, wrong, ierr, i, types(2), lengths(2), absolute
  integer(kind=MPI_ADDRESS_KIND) :: at(2)
  integer :: a(3000)
  real :: b(2000)
  a = -1
  b = -1
  if (rank == root) then
    a = [(i, i = 1, 3000)]
    b = [(real(i), i = 1, 2000)]
  end if
  call MPI_Get_address(a, at(1), ierr)
  call MPI_Get_address(b, at(2), ierr)
  lengths = [3000, 2000]
  types = [MPI_INTEGER, MPI_REAL]
  call MPI_Type_create_struct(2, lengths, at, types, absolute, ierr)
  call MPI_Type_commit(absolute, ierr)
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, root, MPI_COMM_WORLD, ierr)
  call MPI_Type_free(absolute, ierr)
  wrong = wrong + count(a /= [(i, i = 1, 3000)]) + count(b /= [(real(i), i = 1, 2000)])
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Bcast(a, 3000, MPI_INTEGER, -5, MPI_COMM_WORLD, ierr)
  if (ierr == MPI_SUCCESS) wrong = wrong + 1
end subroutine

subroutine module08(rank, root, wrong)
  use mpi_f08
  implicit none
  integer :: rank, root, wrong, i
  type(MPI_Comm) :: comm
  real(kind=8), allocatable :: x(:)
  allocate(x(4000))
  x = 0
  if (rank == root) x = [(real(i, 8), i = 1, 4000)]
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Bcast(x, 4000, MPI_REAL8, root, comm)
  call MPI_Comm_free(comm)
  wrong = wrong + count(x /= [(real(i, 8), i = 1, 4000)])
end subroutine

subroutine module90_reductions(rank, ranks, wrong)
  use mpi
  implicit none
  integer :: rank, ranks, wrong, root, ierr
  double precision :: x(3000), y(3000)
  x = rank
  call MPI_Allreduce(x, y, 3000, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(y /= ranks - 1) + ierr
  call MPI_Allreduce(MPI_IN_PLACE, x, 3000, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, ierr)
  wrong = wrong + count(x /= ranks * (ranks - 1) / 2) + ierr
  do root = 0, ranks - 1
    y = rank + 1
    call MPI_Reduce(y, x, 3000, MPI_DOUBLE_PRECISION, MPI_PROD, root, MPI_COMM_WORLD, ierr)
    if (rank == root) wrong = wrong + count(x /= 6)
    wrong = wrong + count(y /= rank + 1) + ierr
  end do
end subroutine

subroutine module08_reductions(rank, ranks, wrong)
  use mpi_f08
  implicit none
  integer :: rank, ranks, wrong, root
  real :: x(3000), y(3000)
  x = rank
  call MPI_Allreduce(x, y, 3000, MPI_REAL, MPI_MAX, MPI_COMM_WORLD)
  wrong = wrong + count(y /= ranks - 1)
  call MPI_Allreduce(MPI_IN_PLACE, x, 3000, MPI_REAL4, MPI_SUM, MPI_COMM_WORLD)
  wrong = wrong + count(x /= ranks * (ranks - 1) / 2)
  do root = 0, ranks - 1
    y = rank
    call MPI_Reduce(y, x, 3000, MPI_REAL, MPI_MAX, root, MPI_COMM_WORLD)
    if (rank == root) wrong = wrong + count(x /= ranks - 1)
    wrong = wrong + count(y /= rank)
  end do
end subroutine

program entries
  use mpi
  implicit none
  integer :: rank, ranks, root, wrong, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  wrong = 0
  do root = 0, ranks - 1
    call old(rank, root, wrong)
    call module90(rank, root, wrong)
    call module08(rank, root, wrong)
  end do
  call old_reductions(rank, ranks, wrong)
  call module90_reductions(rank, ranks, wrong)
  call module08_reductions(rank, ranks, wrong)
  print '(A,I0,A,I0,A)', 'rank ', rank, ': ', wrong, ' wrong'
  call MPI_Finalize(ierr)
end program
