package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
)

// refineRounds bounds how often hosts are moved; they seldom are a second time.
const refineRounds = 3

// refine moves hosts that do not fit where they are to groups that they fit. Average linkage
// puts a host where its first few measurements do, and does not come back to it. A host fits a group for one of two reasons:
//   - its mean measurement to the others in the group is nearer to the group's level than to the parent's, in the geometric mean;
//   - it is nearer to the group than to the rest of the parent by half of the step between these levels or more. A host that
//     is slow on every message is, whatever it adds to its measurements.
//
// Where links are unequal the first is no reason. A host on an inner switch is near to all others, and to a group beside it.
//
// A host leaves the groups around it that it does not fit, from the innermost on, and then goes down where it fits best.
// Measurements count as capRow cuts them, for the proposal and here: otherwise one outlier moves a host out of a group of three.
// refine returns whether any host moved. O(n^2).
func refine(t *nested.Tree, r *measured.Symmetric, unequal bool, capRow func(row []float32, i int)) bool {
	size := len(t.Parent)
	f := &fitting{t: t, unequal: unequal, groups: t.Groups(), count: make([]float64, size), sum: make([]float64, size)}
	to := make([]int32, t.N)
	moved := false
	row := make([]float32, t.N)
	for i := range int32(t.N) {
		r.Host(row, int(i))
		for j, x := range row {
			row[j] = max(x, -x)
		}
		capRow(row, int(i))
		f.read(row, i)
		to[i] = f.place(i)
		moved = moved || to[i] != t.Parent[i]
	}
	if !moved {
		return false
	}
	copy(t.Parent, to)
	t.Rebuild()
	remeasure(t, r.At)
	return true
}

// A fitting is how far one host is from the groups of a tree.
type fitting struct {
	t          *nested.Tree
	unequal    bool // links of hosts are
	groups     []int32
	count, sum []float64 // of the measurements to the others in each group
}

// read sums up the measurements of host i.
func (f *fitting) read(row []float32, i int32) {
	for _, v := range f.groups {
		f.count[v], f.sum[v] = 0, 0
	}
	for j, x := range row {
		if j != int(i) {
			p := f.t.Parent[j]
			f.count[p]++
			f.sum[p] += float64(x)
		}
	}
	for k := len(f.groups) - 1; k > 0; k-- {
		v := f.groups[k]
		f.count[f.t.Parent[v]] += f.count[v]
		f.sum[f.t.Parent[v]] += f.sum[v]
	}
}

// place is the group to which host i belongs.
func (f *fitting) place(i int32) int32 {
	around := f.t.Parent[i]
	for around != f.t.Root {
		if _, ok := f.fits(around); ok {
			break
		}
		around = f.t.Parent[around]
	}
	at := around
	for next := at; next >= 0; {
		at, next = next, f.nearest(next)
	}
	if at == around {
		return f.t.Parent[i] // it fits nowhere else
	}
	return at
}

// nearest is the group in a group that the host fits and is nearest to, compared with the rest. It is -1 if there is none.
func (f *fitting) nearest(at int32) int32 {
	nearest, best := int32(-1), 0.0
	for _, v := range f.t.Kids(at) {
		if f.t.IsGroup(v) {
			if nearer, ok := f.fits(v); ok && nearer > best {
				nearest, best = v, nearer
			}
		}
	}
	return nearest
}

// fits tells whether the host fits a group, and by how much it is nearer to it than to the rest of the parent.
func (f *fitting) fits(v int32) (nearer float64, ok bool) {
	t, at := f.t, f.t.Parent[v]
	if f.count[v] == 0 || f.count[at] == f.count[v] {
		return 0, false
	}
	mean := f.sum[v] / f.count[v]
	nearer = (f.sum[at]-f.sum[v])/(f.count[at]-f.count[v]) - mean
	return nearer, 2*nearer >= math.Exp(t.LevelOf(at))-math.Exp(t.LevelOf(v)) ||
		!f.unequal && 2*math.Log(mean) < t.LevelOf(v)+t.LevelOf(at)
}
