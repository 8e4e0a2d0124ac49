package placement

import (
	"bufio"
	"fmt"
	"io"

	"github.com/topocast/topocast/model"
)

// WriteList writes one line "rank host:core" per rank, without the core where
// it is not known.
func WriteList(w io.Writer, n *model.Network, place []int) error {
	return write(w, n, place, func(b *bufio.Writer, rank int, at model.Location) {
		if at.Core < 0 {
			fmt.Fprintf(b, "%d %s\n", rank, at.Host)
			return
		}
		fmt.Fprintf(b, "%d %s:%d\n", rank, at.Host, at.Core)
	})
}

// WriteRankfile writes a rankfile of Open MPI, for mpirun --rankfile: a line
// "rank 0=host slot=core" per rank; "slot=0" would be a guess where the core is
// not known, so that is an error. Cores are numbers of the operating system: Open MPI 4
// takes them so with --mca rmaps_rank_file_physical 1.
func WriteRankfile(w io.Writer, n *model.Network, place []int) error {
	for rank, p := range place {
		if p >= 0 && p < n.Ranks() && n.Location(p).Core < 0 {
			return fmt.Errorf("placement: rankfile: the core of rank %d is not known", rank)
		}
	}
	return write(w, n, place, func(b *bufio.Writer, rank int, at model.Location) {
		fmt.Fprintf(b, "rank %d=%s slot=%d\n", rank, at.Host, at.Core)
	})
}

func write(w io.Writer, n *model.Network, place []int, line func(*bufio.Writer, int, model.Location)) error {
	if err := check(n, place, len(place)); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	for rank, p := range place {
		at := n.Location(p)
		if at.Host == "" {
			return fmt.Errorf("placement: the host of rank %d is not known", rank)
		}
		line(b, rank, at)
	}
	return b.Flush()
}
