// Package canned is a fleet for measurements: it sends prepared answers, to leave
// as much of the machine as possible to the program that is measured. It needs
// Linux.
package canned
