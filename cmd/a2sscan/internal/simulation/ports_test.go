package simulation

import (
	"fmt"
	"testing"
)

// TestFleetPorts: a zero in a list of ports stands for a free port. In what is read the
// free ports come last.
func TestFleetPorts(t *testing.T) {
	tests := []struct {
		list, ports string
		served      string // the served list if the chosen ports are from 1, 2 and 3
	}{
		{"27015", "[27015]", "27015"},
		{"27021,27015-27016", "[27015 27016 27021]", "27021,27015-27016"},
		{"0", "[0]", "3"},
		{"0, 0", "[0 0]", "2,3"},
		{"0,27020-27021,0", "[27020 27021 0 0]", "2,27020-27021,3"},
		{"0-3", "[]", "0-3"}, // ParsePorts rejects this range
		{"", "[]", ""},
	}
	for _, test := range tests {
		ports, err := ReadPorts(test.list)
		served := servedPorts(test.list, []uint16{1, 2, 3})
		if fmt.Sprint(ports) != test.ports || served != test.served || (err != nil) != (len(ports) == 0) {
			t.Errorf("%q: %v, %v, %q", test.list, ports, err, served)
		}
	}
}
