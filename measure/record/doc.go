// Package record is the one file that all kinds of measurement are kept in: the
// format "topocast/measurement". Most programs need two calls:
//
//	file, err := record.ReadFile("measurements.json")
//	...
//	err = file.WriteFile("both.json")
//
// What a kind of measurement means is known to its own package, which makes a
// Section of its results, and results of a Section, whose rows Section.Decode checks and
// walks. This one knows lines.
//
// # Layout
//
// A file of version 3 is lines of JSON. The first is the Header: ranks, hosts,
// library, date. Sections follow, each of one kind of measurement:
//
//	{"kind":"latency","sizes_bytes":[8],"columns":["repetition","from",...],"settings":{...}}
//	[0,0,...]
//	[0,1,...]
//	{"rounds":1,"total_rounds":21}
//	...
//	{"end":"latency","rounds":21,"total_rounds":21,"stopped":"","notes":[],"warnings":[]}
//
// A row is the numbers of one measurement, which "columns" name; null is what was not
// measured. A mark says that all rows of so many rounds stand above it. The last
// line closes the file: {"closed":true,"sections":1,"rows":42}.
//
// # Design
//
// Rows are appended while they are measured, so the file under way is the
// journal: a process that is killed loses what it had not yet written. A file
// without closing line is one of those, and reads (File.Unfinished); its last
// line may be cut off. To resume is to read such a file and to go on behind
// its last mark. A file that is closed has to be whole.
//
// Columns are found by name. Those that a reader does not know are kept
// (Section.Rows, merging, tables), so that a later topocast can add some: a
// further number about a measurement does not change what the others say. Keys of the
// other lines are refused if they are not known, as in all our files: what changes
// the meaning of a file has to raise its version.
//
// Rows are float64, one after the other: no row is a Go value of its own. Some
// 50 bits of mantissa are enough for times and for all whole numbers that count
// anything.
package record
