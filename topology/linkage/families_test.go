package linkage_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A familyScore says how well the machines of a family were reconstructed. A machine is right if
// all demanded groups are found and no false one is confident; among points in space
// none is false.
type familyScore struct {
	machines, right                                              int
	demanded, found                                              int
	confidentTrue, confidentFalse, uncertainTrue, uncertainFalse int
	spatial                                                      int // confident groups of points in space, none of them demanded
	wrong                                                        []string
}

func (s *familyScore) add(o familyScore) {
	s.machines += o.machines
	s.right += o.right
	s.demanded += o.demanded
	s.found += o.found
	s.confidentTrue += o.confidentTrue
	s.confidentFalse += o.confidentFalse
	s.uncertainTrue += o.uncertainTrue
	s.uncertainFalse += o.uncertainFalse
	s.spatial += o.spatial
	s.wrong = append(s.wrong, o.wrong...)
}

func (s *familyScore) share() float64 { return float64(s.right) / float64(s.machines) }

func (s *familyScore) String() string {
	return fmt.Sprintf("right %d of %d (%.1f %%)  demanded %d found %d  confident true %d false %d  uncertain true %d false %d  spatial %d",
		s.right, s.machines, 100*s.share(), s.demanded, s.found, s.confidentTrue, s.confidentFalse, s.uncertainTrue, s.uncertainFalse, s.spatial)
}

// scoreMachine reconstructs one machine.
func scoreMachine(method *linkage.Robust, f family, instance int) familyScore {
	m := f.machine(instance)
	s := familyScore{machines: 1}
	known := map[string]trueGroup{}
	for _, g := range m.Groups {
		known[key(g.Hosts)] = g
		if g.demanded() {
			s.demanded++
		}
	}
	result, err := method.Reconstruct(m.Repetitions...)
	if err != nil {
		s.wrong = []string{fmt.Sprintf("%s %d: %v", f.Name, instance, err)}
		return s
	}
	var missing, invented []string
	found := map[string]bool{}
	for _, g := range result.Hierarchy.Groups()[1:] {
		k := key(g.Hosts)
		truth, ok := known[k]
		confident := g.Confidence >= topology.ConfidentFrom
		found[k] = true
		if ok && truth.demanded() {
			s.found++
		}
		switch {
		case ok && confident:
			s.confidentTrue++
		case ok:
			s.uncertainTrue++
		case m.Spatial && confident:
			s.spatial++
		case m.Spatial:
		case confident:
			s.confidentFalse++
			invented = append(invented, fmt.Sprintf("%d hosts confidence %.3f", len(g.Hosts), g.Confidence))
		default:
			s.uncertainFalse++
		}
	}
	for _, g := range m.Groups {
		if g.demanded() && !found[key(g.Hosts)] {
			missing = append(missing, fmt.Sprintf("%d hosts step %.2f", len(g.Hosts), g.Step))
		}
	}
	if len(missing)+len(invented) == 0 {
		s.right = 1
		return s
	}
	text := fmt.Sprintf("%s %d: n=%d R=%d", f.Name, instance, m.Hosts, len(m.Repetitions))
	for _, list := range []struct {
		name string
		of   []string
	}{{"missing", missing}, {"confident false", invented}} {
		if len(list.of) > 0 {
			text += fmt.Sprintf("; %s %d: %s", list.name, len(list.of), strings.Join(list.of[:min(6, len(list.of))], ", "))
		}
	}
	s.wrong = []string{text}
	return s
}

// scoreFamily reconstructs instances of a family on all processors.
func scoreFamily(method *linkage.Robust, f family, instances []int) familyScore {
	scores := make([]familyScore, len(instances))
	var work sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for k := range next {
				scores[k] = scoreMachine(method, f, instances[k])
			}
		})
	}
	for k := range instances {
		next <- k
	}
	close(next)
	work.Wait()
	var total familyScore
	for _, s := range scores {
		total.add(s)
	}
	return total
}

// BenchmarkLinkageFamilies reports how many machines of known groups are
// reconstructed rightly, by family. Half of the instances are held: a method is not to be
// tuned on them. Run it with -benchtime=1x; -v lists what is wrong, instance by
// instance, and the table of all families:
//
//	go test ./topology/linkage -run - -bench LinkageFamilies/tuned -benchtime 1x -v
//	go test ./topology/linkage -run - -bench LinkageFamilies/tuned/drift$ -benchtime 1x -v
func BenchmarkLinkageFamilies(b *testing.B) {
	for _, half := range []struct {
		name        string
		first, last int
	}{{"tuned", 0, 19}, {"held", 20, 39}} {
		b.Run(half.name, func(b *testing.B) {
			var instances []int
			for k := half.first; k <= half.last; k++ {
				instances = append(instances, k)
			}
			var (
				table   []string
				overall familyScore
			)
			for _, f := range families() {
				b.Run(f.Name, func(b *testing.B) {
					var s familyScore
					for b.Loop() {
						s = scoreFamily(&linkage.Robust{}, f, instances)
					}
					b.ReportMetric(100*s.share(), "right%")
					b.ReportMetric(float64(s.confidentFalse), "confident-false")
					if testing.Verbose() {
						for _, w := range s.wrong {
							b.Log(w)
						}
					}
					table = append(table, fmt.Sprintf("%-18s %-10s %s", f.Name, f.Class, s.String()))
					overall.add(s)
				})
			}
			slices.Sort(table)
			b.Logf("%s\n%s\n%-29s %s", half.name, strings.Join(table, "\n"), "overall", overall.String())
		})
	}
}

// Two small instances of each family. The goal for all of them is that 97 % are right, and
// 90 % in each family with groups (BenchmarkLinkageFamilies); leastRight is what
// holds today of these few.
func TestLinkageFamilies(t *testing.T) {
	const leastRight = 0.97
	var overall, flats familyScore
	for _, f := range families() {
		if f.Name == "leaves-of-two" || f.Name == "many-outsiders" || f.Name == "three-levels" {
			continue // large by nature
		}
		s := scoreFamily(&linkage.Robust{}, f, []int{0, 10})
		for _, w := range s.wrong {
			t.Log(w)
		}
		overall.add(s)
		if !f.Grouped {
			flats.add(s)
		}
	}
	t.Log(overall.String())
	if overall.share() < leastRight {
		t.Errorf("overall %s, want %.0f %% right", overall.String(), 100*leastRight)
	}
	if flats.confidentFalse > 0 {
		t.Errorf("machines without groups: %s, want none confident", flats.String())
	}
	// docs/measured.md: of the held instances 4 of 20,113 confident groups do not exist, and 181 of 1,913 uncertain ones:
	// of 1,700 confident ones less than half of one.
	if overall.confidentFalse > 0 || 5*overall.uncertainFalse > overall.uncertainTrue+overall.uncertainFalse {
		t.Errorf("overall %s, want no confident one false, and at most a fifth of the uncertain ones", overall.String())
	}
}
