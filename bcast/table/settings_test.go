package table

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What can change how fast a library is tells jobs apart; what a launcher tells ranks does not. The names are those that
// mpirun of Open MPI 4.1.4 and 5.0.7 and of MPICH 4.0.2 sets, and those that their manuals have.
func TestSettingsTellJobsApart(t *testing.T) {
	launched := []string{
		"PATH=/bin", "OMPI_COMM_WORLD_RANK=1", "OMPI_MCA_ess_base_jobid=17", "OMPI_MCA_orte_hnp_uri=x", "OMPI_MCA_initial_wdir=/tmp",
		"OMPI_MCA_orte_precondition_transports=872dc3baaffc0afe", "OMPI_MCA_pmix=^s1", "PMIX_RANK=0", "PMI_FD=6", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=h",
		"OMPI_MCA_num_procs=2", "OMPI_MCA_cpu_type=x86_64", "OMPI_MCA_PREFIXES=mca,opal,ompi",
		"OMPI_MCA_shmem_RUNTIME_QUERY_hint=mmap", "I_MPI_HYDRA_UUID=7", "I_MPI_PIN_DOMAIN=core",
	}
	if got := SettingsFingerprint(launched); got != "" {
		t.Errorf("what launchers set has the fingerprint %q, want none", got)
	}
	seen := map[string]string{"": "none"}
	for _, setting := range []string{
		"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl=self,vader", "OMPI_MCA_pml=ucx", "OMPI_MCA_coll_tuned_bcast_algorithm=3", "OMPI_MCA_coll=^han",
		"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", "UCX_TLS=tcp", "FI_PROVIDER=tcp", "I_MPI_FABRICS=ofi", "PSM3_RDMA=1",
	} {
		print := SettingsFingerprint(append(slices.Clone(launched), setting))
		if other, known := seen[print]; known {
			t.Errorf("%s has the fingerprint of %s", setting, other)
		}
		seen[print] = setting
	}
	if a, b := SettingsFingerprint([]string{"UCX_TLS=tcp", "FI_X=1"}), SettingsFingerprint([]string{"FI_X=1", "UCX_TLS=tcp"}); a != b {
		t.Error("the order of the environment counts")
	}
}

// A setting that names a file counts by what is in the file: rules that were written anew are another setting.
func TestSettingsReadFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bcast.rules")
	var prints []string
	for _, rules := range []string{"1 7", "2 7", "1 7"} {
		if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
			t.Fatal(err)
		}
		prints = append(prints, SettingsFingerprint([]string{"OMPI_MCA_coll_tuned_dynamic_rules_filename=" + file}))
	}
	if prints[0] == prints[1] || prints[0] != prints[2] {
		t.Errorf("fingerprints of rules a, b and a are %q", prints)
	}
}

func TestLibrarySettings(t *testing.T) {
	got := LibrarySettings([]string{"OMPI_MCA_btl=self,tcp", "HOME=/root", "UCX_TLS=", "OMPI_MCA_ess=x"})
	if want := map[string]string{"OMPI_MCA_btl": "self,tcp", "UCX_TLS": ""}; !maps.Equal(got, want) {
		t.Errorf("LibrarySettings = %v, want %v", got, want)
	}
}
