package list_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// division is a list, and a digest of the targets that it yields:
// their number, and the FNV-1a hash of their places, addresses and tags.
type division struct {
	name    string
	lines   string
	args    []string
	ports   string
	seed    uint64
	inOrder bool
	shard   list.Shard
	from    uint64
	number  int
	digest  uint64
	first   string
}

// manyLines returns n lines with repeats, and with tags on some of them.
func manyLines(n int) string {
	var b strings.Builder
	x := uint32(1)
	for i := range n {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&b, "%d.%d.%d.%d:%d", 1+x>>26, x>>16&3, x>>12&15, x>>8&15, 27015+i%5)
		if i%7 == 3 {
			fmt.Fprintf(&b, " tag %d", i)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var longList = manyLines(300_000)

const mixed = "1.0.0.1:1 a\n1.0.0.0/24 net\n9.9.9.9\n2.0.0.0/30:5-9 small\n3.0.0.0-3.0.1.17:7,9 range\n" +
	"1.0.0.9:1 late\n3.0.0.0/16:8-9\n3.0.0.4:9 later\n9.9.9.9:27015 again\n10.0.0.0/20:1-3\n9.9.9.9:3,4,5 three\n"

var divisions = []division{
	{name: "a list", lines: longList, seed: 1, number: 197097, digest: 0xc19a1150cf41d9a3, first: "0 42.1.8.2:27018 tag 218263"},
	{name: "a list, another seed", lines: longList, seed: 18446744073709551615, number: 197097, digest: 0xce4d35d33cd6e8c3, first: "0 4.3.11.9:27018 "},
	{name: "a list, resumed", lines: longList, seed: 1, from: 123_456, number: 73641, digest: 0xf2eb5720e2652b8e, first: "123456 43.1.4.7:27019 "},
	{name: "a list, shard 0/3", lines: longList, seed: 1, shard: list.Shard{Index: 0, Count: 3}, number: 65329, digest: 0xa4407ba9f609b74a, first: "1 53.2.10.12:27018 "},
	{name: "a list, shard 2/3", lines: longList, seed: 1, shard: list.Shard{Index: 2, Count: 3}, number: 65858, digest: 0xa086117358faf8e5, first: "2 58.2.5.2:27016 "},
	{name: "a list, input order", lines: manyLines(50_000), inOrder: true, number: 46438, digest: 0xb4fa06f4247f3cdb, first: "0 16.0.5.9:27015 "},
	{name: "a list, input order, resumed", lines: manyLines(50_000), inOrder: true, from: 7777, number: 38661, digest: 0x8710ecca64e8452e, first: "7777 36.3.2.5:27019 "},
	{name: "a list, input order, shard", lines: manyLines(50_000), inOrder: true, shard: list.Shard{Index: 4, Count: 5}, number: 9260, digest: 0x581c04956019061f, first: "11 28.0.15.3:27016 "},
	{name: "networks", args: []string{"1.0.0.0/20", "2.0.0.0/22:7-9", "1.0.8.0-1.0.40.3:3"}, ports: "1,2", seed: 3, number: 19460, digest: 0x3660c407e3f787ff, first: "0 1.0.20.226:3 "},
	{name: "networks, resumed", args: []string{"1.0.0.0/20", "2.0.0.0/22:7-9", "1.0.8.0-1.0.40.3:3"}, ports: "1,2", seed: 3, from: 9999, number: 9461, digest: 0xd89441c66727626d, first: "9999 1.0.15.226:1 "},
	{name: "networks, input order", args: []string{"1.0.0.0/20", "2.0.0.0/22:7-9", "1.0.8.0-1.0.40.3:3", "1.0.0.0/16"}, ports: "1,2", inOrder: true, number: 142340, digest: 0xce4c57ef7265a2ad, first: "0 1.0.0.0:1 "},
	{name: "mixed", args: []string{"-", "4.0.0.0/21"}, lines: mixed + manyLines(5000), ports: "1-4", seed: 9, number: 157844, digest: 0x754d527f64c02451, first: "0 3.0.62.120:9 "},
	{name: "mixed, shard", args: []string{"-", "4.0.0.0/21"}, lines: mixed + manyLines(5000), ports: "1-4", seed: 9, shard: list.Shard{Index: 7, Count: 16}, number: 9824, digest: 0x80e870a587d73579, first: "56 3.0.255.90:9 "},
	{name: "mixed, input order", args: []string{"-", "4.0.0.0/21"}, lines: mixed + manyLines(5000), ports: "1-4", inOrder: true, number: 157844, digest: 0xae77be7e82af2a85, first: "0 1.0.0.1:1 a"},
	{name: "mixed, input order, resumed", args: []string{"-", "4.0.0.0/21"}, lines: mixed + manyLines(5000), ports: "1-4", inOrder: true, from: 20_000, number: 137844, digest: 0x6585b138cdb76f11, first: "20000 3.0.71.228:8 "},
	{name: "small networks", lines: "1.0.0.0/26:1\n1.0.1.0/25:1\n1.0.0.0/27:1-2\n1.0.0.0/28:5-12\n", seed: 4, number: 352, digest: 0xefbe2c578cf6c97, first: "0 1.0.1.66:1 "},
}

func TestDivision(t *testing.T) {
	for i, d := range divisions {
		if testing.Short() && i > 0 && d.lines == longList {
			continue
		}
		allow, err := list.NewExclusions(true, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg := list.Config{Args: d.args, Stdin: strings.NewReader(d.lines), Seed: d.seed, InOrder: d.inOrder, Shard: d.shard, Exclusions: allow}
		if d.ports != "" {
			if cfg.Ports, err = list.ParsePorts(d.ports); err != nil {
				t.Fatal(err)
			}
		}
		l, err := list.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		n, h, first := 0, fnv.New64a(), ""
		for tg := range l.From(d.from) {
			if n++; n == 1 {
				first = fmt.Sprintf("%d %v %s", tg.Place, tg.Addr, tg.Tag)
			}
			fmt.Fprintf(h, "%d %v %s\n", tg.Place, tg.Addr, tg.Tag)
		}
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		if n != d.number || h.Sum64() != d.digest || first != d.first {
			t.Errorf("%s: %d targets, digest %#x, first %q; want %d, %#x, %q", d.name, n, h.Sum64(), first, d.number, d.digest, d.first)
		}
	}
}
