// Package canned is a fleet for measurements: it sends prepared answers, so that it
// takes as little as possible of the machine away from what is measured. It needs
// Linux.
package canned
