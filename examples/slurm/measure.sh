#!/bin/sh
# Measures the network of a cluster, once, on as many nodes as the job gets:
#
#     sbatch --nodes=64 measure.sh [flags of topocast measure]
#
# and makes of the readings network.json, which applications load, and
# topology.conf, which the operator may give to Slurm. A job that ends before all
# is measured, at its time limit, say, is submitted again, and goes on. So may
# several be in advance:
#
#     for i in 1 2 3; do sbatch --nodes=64 --dependency=singleton measure.sh; done
#
# TOPOCAST is the program, and LAUNCH what starts it on each node: srun, with the
# type of MPI in SLURM_MPI_TYPE where the site's default is another (pmix for
# Open MPI, pmi2 for MPICH), or the mpirun of the library.
#SBATCH --job-name=topocast-measure
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=01:00:00
#SBATCH --signal=INT@60
set -eu
export SLURM_KILL_BAD_EXIT=1 # or srun would let ranks wait for one that has failed
TOPOCAST=${TOPOCAST:-topocast}
LAUNCH=${LAUNCH:-srun}

# What an earlier job has left: while it measures, readings are in the .part.
earlier=
for file in readings.json.part readings.json; do
	if [ -s $file ]; then
		earlier="--resume $file"
		break
	fi
done

# Sizes up to 1 MiB tell bandwidths, too. Slurm's limit ends the job, not a budget.
$LAUNCH "$TOPOCAST" measure $earlier --output readings.json --sizes 8,8KiB,64KiB,1MiB --budget 24h "$@"
"$TOPOCAST" reconstruct --output network.json readings.json
"$TOPOCAST" export --format slurm-conf --output topology.conf network.json
