//go:build !linux

package netlab

import (
	"context"
	"io"
	"os"
	"os/exec"
)

// A Lab is a running lab; there are none on this system.
type Lab struct{ Cluster *Cluster }

// Available tells why a lab cannot be made here.
func Available() error { return ErrUnavailable }

// Up is for Linux.
func Up(*Cluster, *Settings) (*Lab, error) { return nil, ErrUnavailable }

// Open is for Linux.
func Open(string, *Settings) (*Lab, error) { return nil, ErrUnavailable }

// Down is for Linux.
func Down(string, *Settings) error { return ErrUnavailable }

// Fabric is for Linux.
func Fabric(string, string, io.Reader, io.WriteCloser, io.Reader) error { return ErrUnavailable }

// List is for Linux.
func List(*Settings) ([]Status, error) { return nil, ErrUnavailable }

// Supervise is for Linux.
func Supervise(string, string, []string, string, *os.File) (int, error) { return 0, ErrUnavailable }

// Exec is for Linux.
func Exec(string, string, []string) error { return ErrUnavailable }

// Agent is for Linux.
func Agent(string, []string) error { return ErrUnavailable }

// Machines is for Linux.
func (*Lab) Machines() []Machine { return nil }

// Command is for Linux.
func (*Lab) Command(string, ...string) *exec.Cmd { return nil }

// Counters is for Linux.
func (*Lab) Counters() (*Counters, error) { return nil, ErrUnavailable }

// Reset is for Linux.
func (*Lab) Reset() (*Counters, error) { return nil, ErrUnavailable }

// Down is for Linux.
func (*Lab) Down() (*Counters, error) { return nil, ErrUnavailable }

// Run is for Linux.
func (*Lab) Run(context.Context, *Job, io.Writer, io.Writer) error { return ErrUnavailable }

// RunOn is for Linux.
func (*Lab) RunOn(context.Context, string, []string, io.Reader, io.Writer, io.Writer) error {
	return ErrUnavailable
}

// Verify is for Linux.
func (*Lab) Verify() (*Verification, error) { return nil, ErrUnavailable }

// Preload is for Linux.
func (*Lab) Preload(context.Context, string) (string, error) { return "", ErrUnavailable }
