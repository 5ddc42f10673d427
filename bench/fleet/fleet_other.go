//go:build !linux

package fleet

import (
	"context"
	"errors"
	"runtime"
)

// Fleet is a simulated fleet. It does not exist on this system.
type Fleet struct{}

var errSystem = errors.New("fleet: a fleet needs Linux, because it binds sockets to a device, " +
	"but this system is " + runtime.GOOS)

// New returns an error: a fleet needs Linux.
func New(Config) (*Fleet, error) { return nil, errSystem }

// Config returns the zero Config.
func (*Fleet) Config() Config { return Config{} }

// Serve returns the error that New returned.
func (*Fleet) Serve(context.Context) error { return errSystem }

// Close does nothing.
func (*Fleet) Close() error { return nil }

// Stats returns zeros.
func (*Fleet) Stats() Stats { return Stats{} }
