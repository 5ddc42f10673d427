package list

import (
	"net/netip"
	"strings"
	"testing"
)

// TestShardVectors pins the function that assigns addresses to shards: other
// machines and later versions must compute the same shards.
func TestShardVectors(t *testing.T) {
	tests := []struct {
		addr           string
		of2, of16, of7 int
	}{
		{"0.0.0.0", 0, 0, 0},
		{"0.0.0.1", 0, 5, 2},
		{"1.1.1.1", 0, 6, 2},
		{"8.8.8.8", 1, 8, 3},
		{"10.0.0.1", 0, 1, 0},
		{"127.0.0.1", 1, 12, 5},
		{"192.0.2.1", 1, 13, 5},
		{"198.51.100.7", 1, 11, 4},
		{"203.0.113.7", 1, 11, 5},
		{"203.0.113.8", 0, 6, 3},
		{"255.255.255.255", 1, 8, 3},
	}
	for _, test := range tests {
		a := netip.MustParseAddr(test.addr)
		for n, want := range map[int]int{2: test.of2, 16: test.of16, 7: test.of7, 1: 0, 0: 0} {
			for i := range max(n, 1) {
				if got := (Shard{i, n}).Has(a); got != (i == want) {
					t.Errorf("%s in %d/%d: %v", test.addr, i, n, got)
				}
			}
		}
	}
}

func TestParseShard(t *testing.T) {
	tests := []struct {
		text, job string
		want      Shard
		err       string
	}{
		{"", "3", Shard{}, ""},
		{"0/1", "", Shard{0, 1}, ""},
		{"0/16", "", Shard{0, 16}, ""},
		{"15/16", "7", Shard{15, 16}, ""},
		{"65535/65536", "", Shard{65535, 65536}, ""},
		{"auto/16", "7", Shard{7, 16}, ""},
		{"16/16", "", Shard{}, `the part is "16", but must be a number from 0 to 15`},
		{"-1/16", "", Shard{}, `the part is "-1"`},
		{"auto/16", "16", Shard{}, `the part is "16", but must be a number from 0 to 15`},
		{"auto/16", "x", Shard{}, `the part is "x"`},
		{"auto/16", "", Shard{}, "neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set"},
		{"1", "", Shard{}, "use I/N such as 0/16, or auto/16"},
		{"0/0", "", Shard{}, "the number of parts must be from 1 to 65536"},
		{"0/65537", "", Shard{}, "the number of parts"},
		{"/", "", Shard{}, "the number of parts"},
		{"1/2/3", "", Shard{}, "the number of parts"},
		{"0x1/16", "", Shard{}, "the part is"},
	}
	for _, test := range tests {
		got, err := ParseShard(test.text, test.job)
		switch {
		case test.err == "" && (err != nil || got != test.want):
			t.Errorf("%q: %v, %v", test.text, got, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%q: %v, want %q", test.text, err, test.err)
		}
	}
}
