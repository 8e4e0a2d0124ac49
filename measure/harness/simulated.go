package harness

import (
	"os"
	"strings"

	"github.com/topocast/topocast/mpi"
)

// OwnPlace is the place of the calling rank, if it is on the host of this process: the system of this process says nothing
// of a simulated host.
func OwnPlace(comm mpi.Communicator) (place mpi.Place, isOwn bool) {
	placed, ok := comm.(mpi.Placed)
	host, err := os.Hostname()
	if !ok || err != nil {
		return place, false
	}
	shortName := func(host string) string {
		name, _, _ := strings.Cut(host, ".")
		return name
	}
	place = placed.Place()
	return place, shortName(place.Host) == shortName(host)
}
