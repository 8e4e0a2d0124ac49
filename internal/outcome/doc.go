// Package outcome holds what repeating a published experiment gives: tables, figures and the numbers that the
// source prints. It writes them as Markdown, which terminals show as text, and as JSON.
//
// An experiment fills an Outcome and does nothing else:
//
//	o := &outcome.Outcome{Name: "zhu", Source: "Zhu et al. 2014", Where: "simulated: star:8"}
//	s := o.Section("Table II (section 7.1)")
//	s.Say("Errors of predictions for random patterns.")
//	t := s.Table("table-2", outcome.Number("|N|", ""), outcome.Number("mean error", "%"))
//	t.Row(10, 3.83)
//	s.Compare(outcome.Measured, "mean error, 10 hosts, d = 1", "%", 3.83, ours)
//	s.Compare(outcome.AtLeast, "share of errors within 10 %", "%", 90, share)
//	s.Compare(outcome.Input, "bandwidth of a link", "B/s", 117.5e6, measured)
//	picture, err := draw.Plot("Figure 4", x, y, series)
//	err = s.Figure("figure-4", picture, err)
//
// Every comparison has a Kind. A number is measured under the conditions of the source or under other conditions. Or it is computed
// from the source's own numbers, an input of the simulated machine, or a bound. Shares of agreement count the first kind only.
// Ours is NaN where a number could not be had, and counts as not reproduced.
package outcome
