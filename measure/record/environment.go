package record

import (
	"slices"
	"strings"
)

// environment returns those of the given variables ("NAME=value") that change
// how a message-passing library behaves, sorted: of Open MPI, MPICH and what descends from
// it, UCX, libfabric, and the place that Slurm gave the ranks. What a launcher
// tells a single process (its rank, addresses, keys) is left out, and so is
// whatever looks like a secret.
func environment(variables []string) []string {
	kept := []string{}
	for _, setting := range variables {
		name, _, ok := strings.Cut(setting, "=")
		if ok && changesBehaviour(name) && !ofOneProcess(name) && !secret(name) && len(setting) <= longestSetting {
			kept = append(kept, strings.ToValidUTF8(setting, "?"))
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// longestSetting bounds what one variable adds to each file: longer ones are lists of hosts.
const longestSetting = 1024 // B

func changesBehaviour(name string) bool {
	return someOf(name, strings.HasPrefix,
		"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "OPAL_PREFIX", "MPICH_", "MPIR_", "HYDRA_", "I_MPI_", "MV2_", "MVP_",
		"UCX_", "FI_", "PSM2_", "PSM3_", "HFI_", "MXM_", "HCOLL_", "RDMAV_", "MLX5_", "CXI_",
		"SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_MPI_TYPE", "SLURM_THREADS_PER_CORE",
		"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "GOGC", "GODEBUG", "GOMAXPROCS")
}

// ofOneProcess tells of variables by which a launcher tells a process who it is: another value in
// each process or job, with the same behaviour.
func ofOneProcess(name string) bool {
	return someOf(name, strings.HasSuffix, "_HOSTNAME", "_FD", "_URI") || someOf(name, strings.HasPrefix,
		"OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_prte_", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "PMIX_MCA_mca_base_", "PRTE_MCA_ess",
		"PRTE_MCA_prte_", "HYDRA_CONTROL", "I_MPI_HYDRA_", "MV2_COMM_WORLD_")
}

func secret(name string) bool {
	return someOf(strings.ToUpper(name), strings.Contains, "KEY", "SECRET", "TOKEN", "PASSW", "CREDENTIAL", "COOKIE", "AUTH")
}

// someOf tells whether a name has one of the parts.
func someOf(name string, has func(name, part string) bool, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return has(name, part) })
}
