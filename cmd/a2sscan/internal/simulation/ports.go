package simulation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// ReadPorts parses the ports of a fleet. It returns the port numbers first, and
// then a zero for each free port to choose.
func ReadPorts(text string) (ports []uint16, err error) {
	numbers, free := splitPorts(text)
	if numbers != "" {
		if ports, err = inputs.ParsePorts("--port", numbers); err != nil {
			return nil, err
		}
		slices.Sort(ports)
	}
	return append(ports, make([]uint16, free)...), nil
}

// splitPorts separates a list of ports into its numbers and a count of its zeros.
func splitPorts(text string) (numbers string, free int) {
	var named []string
	for word := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(word) == "0" {
			free++
			continue
		}
		named = append(named, word)
	}
	return strings.Join(named, ","), free
}

// servedPorts returns the list of ports with its zeros replaced by the free ports
// that were chosen, which are the last of taken.
func servedPorts(text string, taken []uint16) string {
	numbers, free := splitPorts(text)
	if free == 0 {
		return text
	}
	var words []string
	if numbers != "" {
		words = append(words, numbers)
	}
	for _, port := range taken[len(taken)-free:] {
		words = append(words, strconv.Itoa(int(port)))
	}
	return strings.Join(words, ",")
}
