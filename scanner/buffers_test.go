package scanner

import "testing"

func TestBuffers(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name             string
		cfg              Config
		recv, send, need int
	}{
		{"the default rate", Config{}, 4 * mib, 4 * mib, 5000 / 10 * datagramCost},
		{"a high rate", Config{Rate: 100_000}, 10_000 * datagramCost, 4 * mib, 10_000 * datagramCost},
		{"no limit", Config{Rate: Off}, 64 * mib, 4 * mib, 64 * mib},
		{"asked for", Config{RecvBuffer: 5, SendBuffer: 6}, 5, 6, 5000 / 10 * datagramCost},
	} {
		recv, send, need := test.cfg.Buffers()
		if recv != test.recv || send != test.send || need != test.need {
			t.Errorf("%s: %d, %d, %d, want %d, %d, %d", test.name, recv, send, need, test.recv, test.send, test.need)
		}
	}
}
