package benchmark

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// WriteCSV writes the rows as a table for programs, all times in s, with a head of names. What is
// not known is empty.
func (r *Report) WriteCSV(w io.Writer) error {
	number := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	c := csv.NewWriter(w)
	err := c.Write([]string{
		"ranks", "root", "bytes", "variant", "plan", "median_s", "median_low_s", "median_high_s", "mean_s", "variance_s2", "min_s", "max_s",
		"gain", "gain_low", "gain_high", "bound_s", "predicted_s", "count", "verified", "topology",
	})
	for _, x := range r.Rows {
		if err != nil {
			break
		}
		record := []string{strconv.Itoa(r.Ranks), strconv.Itoa(r.Root), strconv.Itoa(x.Bytes), x.Variant, x.Plan.How()}
		for _, v := range []float64{
			x.Median, x.Low, x.High, x.Mean, x.Variance, x.Min, x.Max, x.Gain, x.GainLow, x.GainHigh, x.Bound, x.Plan.Predicted,
		} {
			record = append(record, number(v))
		}
		err = c.Write(append(record, strconv.Itoa(x.Count), strconv.FormatBool(x.Verified), x.Plan.Topology))
	}
	if c.Flush(); err == nil {
		err = c.Error()
	}
	if err != nil {
		return fmt.Errorf("benchmark: write report: %w", err)
	}
	return nil
}
