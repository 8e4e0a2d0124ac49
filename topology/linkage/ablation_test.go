package linkage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology/linkage"
)

// BenchmarkLinkageAblation leaves out one correction at a time and counts how many machines of the families
// still come out right. The machines are neither those for tuning nor the held ones. It prints the table of
// all corrections:
//
//	go test ./topology/linkage -run - -bench LinkageAblation -benchtime 1x
func BenchmarkLinkageAblation(b *testing.B) {
	var instances []int
	for k := 40; k < 50; k++ {
		if k%20 != 9 { // those have 512 hosts and more
			instances = append(instances, k)
		}
	}
	var table []string
	for _, left := range append([]string{""}, linkage.Corrections()...) {
		name := "all"
		if left != "" {
			name = "without " + left
		}
		b.Run(name, func(b *testing.B) {
			var overall familyScore
			for b.Loop() {
				overall = familyScore{}
				for _, f := range families() {
					if f.Name != "many-outsiders" && f.Name != "leaves-of-two" && f.Name != "three-levels" { // large by nature
						overall.add(scoreFamily(linkage.Without(left), f, instances))
					}
				}
			}
			b.ReportMetric(100*overall.share(), "right%")
			b.ReportMetric(float64(overall.confidentFalse), "confident-false")
			b.ReportMetric(float64(overall.uncertainFalse), "uncertain-false")
			table = append(table, fmt.Sprintf("%-28s %s", name, overall.String()))
		})
	}
	b.Logf("\n%s", strings.Join(table, "\n"))
}
