#!/bin/sh
# Runs an application that broadcasts along the network that measure.sh has found:
#
#     sbatch --nodes=16 application.sh ./embed
#
# The file is of all nodes that were measured. The application gives it to
# bcast.New, which takes the View of the nodes that this job got, in its order of
# ranks. NETWORK names the file, and LAUNCH is as in measure.sh.
#SBATCH --job-name=application
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:10:00
set -eu
export SLURM_KILL_BAD_EXIT=1 # or srun would let ranks wait for one that has failed
${LAUNCH:-srun} "$@" "${NETWORK:-network.json}"
