package encode

import (
	"fmt"
	"strings"
	"testing"
)

// One traffic of four ranks, in the forms in which programs write it: CSV, blanks at line ends, with names, with comments and as Markdown.
func TestReadCounts(t *testing.T) {
	const want = "[0 8000 700 0 8000 0 0 700 700 0 0 9000 0 700 8000 0]"
	for name, file := range map[string]string{
		"CSV":                     "0,8000,700,0\n8000,0,0,700\n700,0,0,9000\n0,700,8000,0\n",
		"empty cells":             ",8000,700,\n8000,,,700\n700,,,9000\n,700,8000,\n",
		"blanks":                  "0 8000 700 0 \n8000 0 0 700 \n700 0 0 9000 \n0 700 8000 0 \n",
		"names":                   "rank,r0,r1,r2,r3\nr0,0,8000,700,0\nr1,8000,0,0,700\nr2,700,0,0,9000\nr3,0,700,8000,0\n",
		"comments":                "# bytes sent, unit: bytes\n0;8000;700;0\n8000;0;0;700\n700;0;0;9000\n0;700;8000;0\n",
		"numbers as names":        "rank 0 1 2 3\n0 0 8000 700 0\n1 8000 0 0 700\n2 700 0 0 9000\n3 0 700 8000 0\n",
		"names above alone":       "r0,r1,r2,r3\n0,8000,700,0\n8000,0,0,700\n700,0,0,9000\n0,700,8000,0\n",
		"separators at the end":   "0,8000,700,0,\n8000,0,0,700,\n700,0,0,9000,\n0,700,8000,0,\n",
		"a list":                  "0 1 8000\n1 0 8000\n0 2 700\n2 0 600\n2 0 100\n1 3 700\n3 1 700\n2 3 9000\n3 2 8000\n",
		"ranks in any order":      "rank,r3,r1,r2,r0\nr3,0,700,8000,0\nr1,700,0,0,8000\nr2,9000,0,0,700\nr0,0,8000,700,0\n",
		"ranks from 1, any order": "2 1 4 3\n0 8000 700 0\n8000 0 0 700\n700 0 0 8000\n0 700 9000 0\n",
		"prose":                   "Messages of the run\n\n0 8000 700 0\n8000 0 0 700\n700 0 0 9000\n0 700 8000 0\n",
		"Markdown":                "| |r0|r1|r2|r3|\n|---|---|---|---|---|\n|r0|0|8000|700|0|\n|r1|8000|0|0|700|\n|r2|700|0|0|9000|\n|r3|0|700|8000|0|\n",
	} {
		m, err := ReadCounts(strings.NewReader(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := fmt.Sprint(m.RawMatrix().Data); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, file := range []string{"", "0,-1\n1,0\n", "0,x\n1,0\n", "0,1,2\n1,0,2\n", "0,5us\n1,0\n", "# topocast latencies, unit: us\n0,5\n1,0\n", "# unit: ms\n0,5\n1,0\n", "Latency (us)\n0,5\n1,0\n", "0 1\n", "a,b\n", "x\n", "a b 5\nb a 5\n", ",n3,n1,n2\nn3,0,5,6\nn1,5,0,7\nn2,6,7,0\n", "r9,r1,r2\n0,5,6\n5,0,7\n6,7,0\n", "1 3 5\n3 1 5\n3 7 5\n7 3 5\n"} {
		if m, err := ReadCounts(strings.NewReader(file)); err == nil {
			t.Errorf("%q is taken for %v", file, m)
		}
	}
}
