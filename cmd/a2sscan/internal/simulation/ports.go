package simulation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// isFree reports whether a word in a list of ports stands for a free port.
func isFree(word string) bool { return strings.TrimSpace(word) == "0" }

// ReadPorts parses the ports of a fleet. It returns the port numbers first, and
// then a zero for each free port to choose.
func ReadPorts(text string) (ports []uint16, err error) {
	words := strings.Split(text, ",")
	numbers := slices.DeleteFunc(slices.Clone(words), isFree)
	if len(numbers) > 0 {
		if ports, err = inputs.ParsePorts("--port", strings.Join(numbers, ",")); err != nil {
			return nil, err
		}
		slices.Sort(ports)
	}
	return append(ports, make([]uint16, len(words)-len(numbers))...), nil
}

// servedPorts returns the list of ports with its zeros replaced by the free ports
// that were chosen, which are the last of taken.
func servedPorts(text string, taken []uint16) string {
	words := strings.Split(text, ",")
	for i := len(words) - 1; i >= 0; i-- {
		if isFree(words[i]) {
			words[i] = strconv.Itoa(int(taken[len(taken)-1]))
			taken = taken[:len(taken)-1]
		}
	}
	return strings.Join(words, ",")
}
