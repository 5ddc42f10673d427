// Package canned is a fleet for measurements: it answers out of cans, so that it
// takes as little as possible of the machine from what is measured. It needs
// Linux.
package canned
