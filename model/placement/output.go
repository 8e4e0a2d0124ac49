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

// WriteHosts writes the host of each rank, one per line, as launchers read host lists. Cores need not be known.
func WriteHosts(w io.Writer, n *model.Network, place []int) error {
	return write(w, n, place, func(b *bytes.Buffer, rank int, at model.Location) error {
		host := at.Host
		if host == "" {
			host = n.Graph().Name(place[rank])
		}
		fmt.Fprintln(b, host)
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
