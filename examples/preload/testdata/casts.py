"""Broadcasts of objects and of buffers, and reductions; the argument is the thread level."""

import array
import sys

import mpi4py

mpi4py.rc.thread_level = sys.argv[1]
from mpi4py import MPI

comm = MPI.COMM_WORLD
wrong = 0
for root in range(comm.size):
    found = comm.bcast({"numbers": list(range(5000))} if comm.rank == root else None, root)
    wrong += found != {"numbers": list(range(5000))}
    buf = bytearray(b"x" * 70000 if comm.rank == root else 70000)
    comm.Bcast([buf, MPI.BYTE], root)
    wrong += buf != b"x" * 70000
numbers = array.array("d", [comm.rank] * 9000)
comm.Allreduce(MPI.IN_PLACE, numbers, MPI.SUM)
wrong += numbers.count(comm.size * (comm.size - 1) / 2) != 9000
# One rank writes: a launcher may mix the lines of several.
for rank, n in enumerate(comm.gather(wrong) or []):
    print("rank %d: %d wrong" % (rank, n))
