package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/spanner"
)

// latencies are what the files of one reconstruction hold.
type latencies struct {
	matrices     []mat.Matrix
	names        []string        // of the rows; nil: not known
	measured     *measure.Result // the matrices come from, or nil
	job          *record.Header  // of the ranks, where they were measured; nil: it was a plain matrix
	warnings     []string
	measurements []string        // how each plain matrix was understood
	sizes        []spanner.Sized // of matrices of several message lengths, ascending; matrices are those of the shortest

	directions *oneway.Result // of the ranks; nil: not measured

	// Of PLogP parameters.
	parameters *plogp.Result
	view       plogp.View // what of them the matrix is
	times      mat.Matrix // L + g(m), in s
}

// readAllLatencies reads a file and its further repetitions. With a view it is distances between PLogP parameters.
func readAllLatencies(paths []string, unit encode.Unit, view *plogp.View) (*latencies, error) {
	var all latencies
	for i, path := range paths {
		l, err := cli.ReadFile(path, func(f io.Reader) (*latencies, error) { return latenciesOf(f, path, unit, view) })
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			all = *l
			continue
		case l.measured != nil && all.measured != nil:
			if all, err = merged(all.measured, l.measured); err != nil {
				return nil, cli.BadInput("--reps: %s: %w", path, err)
			}
			continue
		case l.measured != nil || all.measured != nil:
			return nil, cli.BadInput("--reps: %s: files of topocast measure go with each other only", path)
		}
		if err := all.join(l, paths[0]); err != nil {
			return nil, cli.BadInput("--reps: %s: %w", path, err)
		}
		n, columns := all.matrices[0].Dims()
		if rows, _ := l.matrices[0].Dims(); rows != n {
			return nil, cli.BadInput("--reps: %s: %d x %d, where %s is %d x %d", path, rows, rows, paths[0], n, columns)
		}
		all.matrices = append(all.matrices, l.matrices...)
	}
	return &all, nil
}

// join takes over what another file of the same rows says besides its matrices. first is the file of those so far.
func (l *latencies) join(other *latencies, first string) error {
	if l.names != nil && other.names != nil && !slices.Equal(l.names, other.names) {
		return fmt.Errorf("other names than in %s", first)
	}
	l.warnings, l.measurements = append(l.warnings, other.warnings...), append(l.measurements, other.measurements...)
	if l.names == nil {
		l.names = other.names
	}
	return nil
}

// merged are the measurements of two runs of the same ranks.
func merged(a, b *measure.Result) (latencies, error) {
	file := func(r *measure.Result) *record.File {
		return &record.File{Header: r.Header, Sections: []*record.Section{r.Section()}}
	}
	both, err := record.Merge(file(a), file(b))
	if err != nil {
		return latencies{}, err
	}
	r, err := measure.FromFile(both)
	if err != nil {
		return latencies{}, err
	}
	return latencies{matrices: r.Matrices(), measured: r, job: &r.Header, warnings: r.Warnings}, nil
}

// latenciesOf reads the content of a file, in whichever form it is.
func latenciesOf(f io.Reader, path string, unit encode.Unit, view *plogp.View) (*latencies, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	start, _ := r.Peek(512) // its error comes again
	start = bytes.TrimLeft(start, "\ufeff \t\r\n")
	switch {
	case len(start) > 0 && start[0] == '{':
		return readMeasurements(r, path, unit, view)
	case view != nil && len(start) == 0:
		return nil, errors.New("is empty")
	case view != nil: // such as a plain matrix
		return nil, noParameters()
	case string(bytes.TrimRight(start, " \t\r\n")) == "null": // of a program that had nothing to write as JSON
		return nil, errors.New("holds null and nothing else: want a matrix, or measurements of topocast measure")
	}
	return readMatrix(r, path, unit)
}

func noParameters() error {
	return fmt.Errorf("holds no PLogP parameters: topocast measure --what %s measures them", plogp.Kind)
}

// readMatrix reads a plain matrix, and says how it was understood.
func readMatrix(r io.Reader, path string, unit encode.Unit) (*latencies, error) {
	m, err := encode.ReadMatrix(r, unit)
	if err != nil {
		return nil, err
	}
	l := &latencies{matrices: []mat.Matrix{m.Matrix}, names: m.Names, measurements: []string{path + ": " + m.Understood}}
	for _, warning := range m.Warnings {
		l.warnings = append(l.warnings, path+": "+warning)
	}
	return l, nil
}

// readMeasurements reads a file of topocast measure, or a matrix that another program wrote as JSON.
func readMeasurements(r io.Reader, path string, unit encode.Unit, view *plogp.View) (*latencies, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	f, err := record.Read(bytes.NewReader(data))
	switch format := jsonfile.Format(data); {
	case err == nil:
	case view == nil && format == "":
		return readMatrix(bytes.NewReader(data), path, unit)
	case view == nil && errors.Is(err, record.ErrFormat) && format != "":
		return nil, fmt.Errorf("format is %q: want a matrix, or topocast/measurement, which topocast measure writes", format)
	default:
		return nil, err
	}
	switch parameters := f.Section(plogp.Kind); {
	case view != nil && parameters == nil:
		return nil, noParameters()
	case view != nil:
		return parametersOf(f, parameters, *view)
	case f.Section(measure.KindLatency) == nil && parameters != nil:
		return nil, errors.New("holds PLogP parameters: want --distance, which says what of them")
	case unit != 0:
		return nil, fmt.Errorf("--unit: %s holds its own", path)
	}
	return measuredLatencies(f)
}

// measuredLatencies are those of a file of topocast measure, with its one-way times if it has any.
func measuredLatencies(f *record.File) (*latencies, error) {
	m, err := measure.FromFile(f)
	if err != nil {
		return nil, err
	}
	l := &latencies{matrices: m.Matrices(), measured: m, job: &m.Header, warnings: m.Warnings}
	if len(l.matrices) == 0 {
		return nil, errors.New("nothing was measured")
	}
	if s := f.Section(oneway.Kind); s != nil {
		if l.directions, err = oneway.FromSection(s, f.Ranks); err != nil {
			return nil, err
		}
		l.warnings = append(slices.Clone(l.warnings), l.directions.Warnings...)
	}
	return l, nil
}

// parametersOf are the distances between the PLogP parameters of a file.
func parametersOf(f *record.File, s *record.Section, v plogp.View) (*latencies, error) {
	r, err := plogp.FromSection(s, f.Ranks)
	if err != nil {
		return nil, err
	}
	d, err := r.Distances(v)
	if err != nil {
		return nil, err
	}
	times, err := r.Distances(plogp.View{Bytes: v.Bytes, Linear: v.Linear})
	if err != nil {
		return nil, fmt.Errorf("times of the network: %w", err)
	}
	warnings := slices.Clone(r.Warnings)
	longest := int64(0)
	for i := range r.Pairs {
		if sizes := r.Pairs[i].Sizes; len(sizes) > 0 {
			longest = max(longest, sizes[len(sizes)-1])
		}
	}
	if v.Bytes > longest {
		warnings = append(warnings, fmt.Sprintf("messages of %s are longer than all that were measured (up to %s): their parameters are extrapolated", quantity.Bytes(v.Bytes), quantity.Bytes(longest)))
	}
	return &latencies{matrices: []mat.Matrix{d}, job: &f.Header, parameters: r, view: v, times: times, warnings: warnings}, nil
}

// ofSize are the repetitions of one of the sizes in which anything was measured.
func (l *latencies) ofSize(size int) (repetitions []mat.Matrix, err error) {
	isMeasured := make([]bool, l.measured.Repetitions)
	for _, x := range l.measured.Measurements() {
		isMeasured[x.Repetition] = isMeasured[x.Repetition] || x.Size == size
	}
	for k, is := range isMeasured {
		if !is {
			continue
		}
		m, err := l.measured.Matrix(func(x *measure.Measurement) float64 { return x.Q1 }, k, size)
		if err != nil {
			return nil, err
		}
		repetitions = append(repetitions, m)
	}
	if len(repetitions) == 0 {
		return nil, fmt.Errorf("messages of %s: nothing was measured", quantity.Bytes(l.measured.Sizes[size]))
	}
	return repetitions, nil
}

// sayReadings says how plain matrices were understood.
func (l *latencies) sayMeasurements(w io.Writer) {
	for _, measurement := range l.measurements {
		fmt.Fprintln(w, measurement)
	}
}

// named is what the report calls the rows of the matrices: of a plain one nobody knows whether they are
// cores, hosts or sites.
func (l *latencies) named() *draw.TextSettings {
	if l.job == nil {
		return placed("endpoint", l.locations())
	}
	return placed("rank", l.locations())
}

// locations are where the rows are, those of a plain matrix on hosts of their names; nil: not known.
func (l *latencies) locations() (at []model.Location) {
	if l.job != nil {
		return l.job.Locations()
	}
	for _, name := range l.names {
		at = append(at, model.Location{Host: name, Core: -1})
	}
	return at
}

// hostNames are the names of the rows, of ranks those of their hosts; nil: not known.
func (l *latencies) hostNames() []string {
	if l.job != nil {
		return l.job.Hosts
	}
	return l.names
}

// splitLength takes LENGTH=FILE apart. Other texts are files as they are.
func splitLength(text string) (bytes int64, file string, ok bool) {
	length, file, found := strings.Cut(text, "=")
	bytes, err := cli.ParseSize(length)
	if !found || err != nil {
		return 0, text, false
	}
	return bytes, file, true
}

// readLatencies reads files and their further repetitions, as readAllLatencies does, or matrices of several message lengths, an argument
// LENGTH=FILE for each. Files of one length are its repetitions.
func readLatencies(args []string, unit encode.Unit, view *plogp.View) (all *latencies, err error) {
	if _, _, named := splitLength(args[0]); !named {
		return readAllLatencies(args, unit, view)
	}
	if view != nil {
		return nil, cli.BadInput("--distance: matrices with LENGTH=FILE hold no PLogP parameters")
	}
	files := make(map[int64][]string)
	for _, arg := range args {
		bytes, file, _ := splitLength(arg)
		files[bytes] = append(files[bytes], file)
	}
	lengths := slices.Sorted(maps.Keys(files))
	for i, bytes := range lengths {
		l, err := readAllLatencies(files[bytes], unit, nil)
		switch {
		case err != nil:
			return nil, err
		case l.measured != nil:
			return nil, cli.BadInput("%s: says the lengths of its messages itself: want matrices with LENGTH=FILE", files[bytes][0])
		case i == 0:
			all = l
		default:
			if err := all.join(l, files[lengths[0]][0]); err != nil {
				return nil, cli.BadInput("%s: %w", files[bytes][0], err)
			}
		}
		all.sizes = append(all.sizes, spanner.Sized{Bytes: bytes, Repetitions: l.matrices})
	}
	return all, nil
}

// checkLengths refuses arguments of which some name a message length and others do not, and methods that take one length.
func checkLengths(method string, search bool, args, repetitions []string) error {
	files := slices.Concat(args, repetitions)
	named := count(files, func(arg string) bool {
		_, _, ok := splitLength(arg)
		return ok
	})
	switch {
	case named == 0 && len(args) > 1:
		return cli.BadInput("unexpected argument %q after %s: further repetitions go to --reps", args[1], args[0])
	case named > 0 && named < len(files):
		return cli.BadInput("want LENGTH=FILE of all files or of none")
	case named > 0 && (method != "greedy" || search):
		return cli.BadInput("%s: want --method greedy, which merges message lengths", args[0])
	}
	return nil
}
