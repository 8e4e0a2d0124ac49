// Package outcome holds what repeating a published experiment gives, tables, figures and the numbers that the
// source prints, and writes it as text, JSON, CSV and as a page.
//
// An experiment fills an Outcome and does nothing else:
//
//	o := &outcome.Outcome{Name: "zhu", Source: "Zhu et al. 2014", Where: "simulated: star:8"}
//	s := o.Section("Table II (section 7.1)")
//	s.Say("Errors of predictions for random patterns.")
//	t := s.Table("table-2", outcome.Number("|N|", ""), outcome.Number("mean error", "%"))
//	t.Row(10, 3.83)
//	s.Compare("mean error, 10 hosts, d = 1", "%", 3.83, ours)
//	s.Bound("share of errors within 10 %", "%", outcome.AtLeast, 90, share)
//	s.Given("bandwidth of a link", "B/s", 117.5e6, measured)
//	s.Figure("figure-4", figure)
//
// What is compared is told apart: numbers that the experiment was to give, bounds, and numbers by which the simulated
// machine was made and which therefore repeat nothing. Ours is NaN where a number could not be had, and counts as not reproduced.
package outcome
