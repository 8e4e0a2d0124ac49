package placement

import (
	"bytes"
	"fmt"
	"io"

	"github.com/topocast/topocast/model"
)

// Formats are the formats of Write:
//
//   - text: one line "rank host:core" per rank, without the core where it is not known
//   - rankfile: a rankfile of Open MPI, for mpirun --rankfile
//   - hosts: the host of each rank, one per line, as launchers read host lists
//   - mpich: arguments of MPICH's mpiexec (Hydra)
//
// A host in text and hosts is the name in the graph where the network does not know locations, as those of platform files
// do not.
func Formats() []string { return []string{"text", "rankfile", "hosts", "mpich"} }

// Write writes the host and the core of each rank in one of Formats. Where a format needs a host or a core that is not
// known, that is an error, and nothing is written.
func Write(w io.Writer, format string, n *model.Network, place []int) error {
	if err := check(n, place, len(place)); err != nil {
		return err
	}
	var b bytes.Buffer
	var err error
	switch format {
	case "text":
		writeList(&b, n, place)
	case "rankfile":
		err = writeRankfile(&b, n, place)
	case "hosts":
		for _, p := range place {
			fmt.Fprintln(&b, hostName(n, p))
		}
	case "mpich":
		err = writeMPICH(&b, n, place)
	default:
		err = fmt.Errorf("format %q: want one of %v", format, Formats())
	}
	if err != nil {
		return fmt.Errorf("placement: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func writeList(b *bytes.Buffer, n *model.Network, place []int) {
	for rank, p := range place {
		fmt.Fprintf(b, "%d %s", rank, hostName(n, p))
		if at := n.Location(p); at.Host != "" && at.Core >= 0 {
			fmt.Fprintf(b, ":%d", at.Core)
		}
		fmt.Fprintln(b)
	}
}

// hostName is the host of a place, or its name in the graph if that is not known.
func hostName(n *model.Network, place int) string {
	if host := n.Location(place).Host; host != "" {
		return host
	}
	return n.Graph().Name(place)
}

// known refuses a rank whose host or core is not known.
func known(rank int, at model.Location) error {
	switch {
	case at.Host == "":
		return fmt.Errorf("the host of rank %d is not known", rank)
	case at.Core < 0:
		return fmt.Errorf("the core of rank %d is not known", rank)
	}
	return nil
}
