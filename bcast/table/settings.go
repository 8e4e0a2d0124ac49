package table

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
)

// SettingsExamples are environment variables that set MPI libraries, for warnings.
const SettingsExamples = "OMPI_MCA_*, MPIR_CVAR_*, UCX_* or FI_*"

// LibrarySettings are the variables of an environment ("NAME=value") that can change how fast an MPI library is.
// mpirun --mca and -genv set such variables. Variables by which a launcher tells ranks who they are do not count, nor do
// those that bind ranks to cores: where ranks run is told apart anyway.
func LibrarySettings(environment []string) map[string]string {
	set := make(map[string]string)
	for _, v := range environment {
		if name, value, _ := strings.Cut(v, "="); isLibrarySetting(name) {
			set[name] = value
		}
	}
	return set
}

func isLibrarySetting(name string) bool {
	for _, of := range []string{ // launchers
		"OMPI_MCA_orte_", "OMPI_MCA_prte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_plm", "OMPI_MCA_ras", "OMPI_MCA_rmaps",
		"OMPI_MCA_odls", "OMPI_MCA_schizo", "OMPI_MCA_routed", "OMPI_MCA_oob", "OMPI_MCA_initial_wdir", "OMPI_MCA_hwloc_base_binding",
		"OMPI_MCA_shmem_RUNTIME_QUERY_hint", "OMPI_MCA_mca_base_env_list", "OMPI_MCA_num_procs", "OMPI_MCA_cpu_type", "OMPI_MCA_PREFIXES",
		"I_MPI_HYDRA_", "I_MPI_PIN", "MV2_COMM_WORLD_",
	} {
		if strings.HasPrefix(name, of) {
			return false
		}
	}
	if strings.HasSuffix(name, "_INTERFACE_HOSTNAME") { // of MPICH's launcher
		return false
	}
	for _, of := range []string{
		"OMPI_MCA_", "MPIR_CVAR_", "MPIR_PARAM_", "MPICH_", "I_MPI_", "MV2_", "MVP_",
		"UCX_", "UCC_", "FI_", "PSM2_", "PSM3_", "HFI_", "HCOLL_", "SHARP_", "OPX_",
	} {
		if strings.HasPrefix(name, of) {
			return true
		}
	}
	return false
}

// SettingsFingerprint tells jobs apart by how their library is set: "" with no setting. The value of a setting that names
// a file counts by what is in the file, such as rules for Open MPI or a selection for MPICH.
func SettingsFingerprint(environment []string) string {
	set := LibrarySettings(environment)
	if len(set) == 0 {
		return ""
	}
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, name := range names {
		fmt.Fprintf(h, "%q=%q\n", name, set[name])
		if strings.ContainsRune(set[name], os.PathSeparator) {
			writeFile(h, set[name])
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// writeFile writes what is in a file, if it is one that can be read.
func writeFile(w io.Writer, name string) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	const most = 16 << 20 // bytes
	_, _ = io.CopyN(w, f, most)
}
