// Package hostmemory tells how much memory the host of this process has for buffers. Limits of a job,
// as those of control groups, are not known to it.
package hostmemory
