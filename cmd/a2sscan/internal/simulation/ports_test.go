package simulation

import "testing"

// TestFleetPorts: a zero in a list of ports stands for a free port. The chosen
// ports come last in the list.
func TestFleetPorts(t *testing.T) {
	tests := []struct {
		list, numbers string
		free          int
		served        string // the served list if the chosen ports are from 1, 2 and 3
	}{
		{"27015", "27015", 0, "27015"},
		{"27015,27020-27030", "27015,27020-27030", 0, "27015,27020-27030"},
		{"0", "", 1, "3"},
		{"0, 0", "", 2, "2,3"},
		{"0,27020-27030,0", "27020-27030", 2, "27020-27030,2,3"},
		{"0-3", "0-3", 0, "0-3"}, // ParsePorts rejects this range
		{"", "", 0, ""},
	}
	for _, test := range tests {
		numbers, free := splitPorts(test.list)
		served := servedPorts(test.list, []uint16{1, 2, 3})
		if numbers != test.numbers || free != test.free || served != test.served {
			t.Errorf("%q: %q, %d, %q", test.list, numbers, free, served)
		}
	}
}
