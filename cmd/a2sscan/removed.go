package main

// removedFlag says what replaces a flag of an earlier version.
type removedFlag struct {
	instead string // what to use instead, as a hint
	matters bool   // the flag changed targets or rate, so a configuration file that sets it is refused
}

// removed holds the flags of earlier versions that have left, by "command --flag". A
// command line that uses one of them ends with exit code 1. A configuration file that
// sets one is refused if the flag matters; otherwise it gets a warning.
var removed = map[string]removedFlag{
	"scan --farms":    {instead: "a2sscan stats CENSUS lists the farms of a census"},
	"scan --no-stats": {instead: "omit it: only a2sscan stats writes the stats of a census"},
}
