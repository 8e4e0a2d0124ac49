package placement

import (
	"bytes"
	"fmt"
	"io"

	"github.com/topocast/topocast/model"
)

// WriteList writes one line "rank host:core" per rank, without the core where
// it is not known. The host is the name in the graph where the network does not know
// locations, as those of platform files do not.
func WriteList(w io.Writer, n *model.Network, place []int) error {
	return write(w, n, place, func(b *bytes.Buffer, rank int, at model.Location) error {
		switch {
		case at.Host == "":
			fmt.Fprintf(b, "%d %s\n", rank, n.Graph().Name(place[rank]))
		case at.Core < 0:
			fmt.Fprintf(b, "%d %s\n", rank, at.Host)
		default:
			fmt.Fprintf(b, "%d %s:%d\n", rank, at.Host, at.Core)
		}
		return nil
	})
}

// WriteRankfile writes a rankfile of Open MPI, for mpirun --rankfile: a line
// "rank 0=host slot=core" per rank; "slot=0" would be a guess where the core is
// not known, so that is an error. Cores are numbers of the operating system: Open MPI 4
// takes them so with --mca rmaps_rank_file_physical 1.
func WriteRankfile(w io.Writer, n *model.Network, place []int) error {
	return write(w, n, place, func(b *bytes.Buffer, rank int, at model.Location) error {
		if at.Host == "" {
			return fmt.Errorf("placement: rankfile: the host of rank %d is not known", rank)
		}
		if at.Core < 0 {
			return fmt.Errorf("placement: rankfile: the core of rank %d is not known", rank)
		}
		fmt.Fprintf(b, "rank %d=%s slot=%d\n", rank, at.Host, at.Core)
		return nil
	})
}

func write(w io.Writer, n *model.Network, place []int, line func(*bytes.Buffer, int, model.Location) error) error {
	if err := check(n, place, len(place)); err != nil {
		return err
	}
	var b bytes.Buffer // nothing is written if a rank is refused
	for rank, p := range place {
		if err := line(&b, rank, n.Location(p)); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
