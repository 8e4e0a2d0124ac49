package smpi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/topocast/topocast/internal/published"
)

// A Cell is one broadcast from rank 0 over 256 ranks, four on each host, with the
// times in us that SMPI's own algorithms have taken.
type Cell struct {
	Platform  string // tworack, tworack1g, tree3, fattree
	Placement string // block, shuf
	Bytes     int
	Bound     float64            `json:"lower_raw_us"` // bytes over the slowest link, and the longest route
	P2P       float64            `json:"p2p_us"`       // one message to the farthest rank; 0: not recorded
	Best      float64            `json:"best_us"`      // of the selectors, which choose as a library does
	Selectors map[string]float64 `json:"selectors_us"`
	All       map[string]float64 `json:"all_us"` // by algorithm
}

// Recorded are the recorded cells and the directory of their platforms and host
// files; none where they do not lie beside the module.
func Recorded() (cells []Cell, dir string, err error) {
	data, ok := published.Beside()
	if !ok {
		return nil, "", nil
	}
	dir = filepath.Join(data, "smpi")
	text, err := os.ReadFile(filepath.Join(dir, "bcast_smpi.json"))
	if err != nil {
		return nil, "", err
	}
	var file struct{ Bcast []Cell }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, "", fmt.Errorf("smpi: %w", err)
	}
	return file.Bcast, dir, nil
}

// PlatformFile is the file of the cell's platform in the directory.
func (c *Cell) PlatformFile(dir string) string {
	return filepath.Join(dir, "sm_"+c.Platform+".xml")
}

// HostFile is the file with the hosts of the cell's ranks in the directory.
func (c *Cell) HostFile(dir string) string {
	return filepath.Join(dir, "sm_"+c.Platform+"."+c.Placement+".hf")
}
