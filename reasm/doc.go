// Package reasm puts split replies together again: fragments in, whole
// messages out.
package reasm
