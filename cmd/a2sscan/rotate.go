package main

import (
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/sink"
)

// summaryName is where the numbers of a scan in parts go: beside them, with
// the name that they have in common.
func summaryName(path string, start time.Time) string {
	first := sink.PartName(path, start, 1)
	return first[:strings.LastIndex(first, "-00001")] + ".summary.json"
}
