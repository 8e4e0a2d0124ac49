// Package bcast broadcasts along the wiring of the machine.
package bcast
