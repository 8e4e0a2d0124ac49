package draw

// LayoutWith is Layout with another length of the longest channel, and another gamma.
var LayoutWith = layoutWith
