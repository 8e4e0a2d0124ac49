//go:build !unix

package mpi

import "errors"

func writeTo(uint64, string) error { return errors.ErrUnsupported }
