package reasm_test

import (
	"fmt"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// Two fragments of a RULES reply, the last one first.
func Example() {
	const from = 0x7F000001_6987 // 127.0.0.1:27015
	datagrams := []string{
		"\xFE\xFF\xFF\xFF\x57\x01\x00\x00\x02\x01\xE0\x04" + "vity\x00800\x00",
		"\xFE\xFF\xFF\xFF\x57\x01\x00\x00\x02\x00\xE0\x04" + "\xFF\xFF\xFF\xFFE\x01\x00sv_gra",
	}
	table := reasm.New(0)
	var buf []byte
	for i, d := range datagrams {
		now := time.Duration(i) * time.Millisecond
		msg, outcome, err := table.Add(now, from, []byte(d), buf[:0])
		fmt.Println(outcome == reasm.Whole, err)
		if outcome != reasm.Whole {
			continue
		}
		var rules wire.Rules
		if err := rules.Reset(msg); err != nil {
			fmt.Println(err)
		}
		for rules.Next() {
			fmt.Printf("%s = %s\n", rules.Rule().Name, rules.Rule().Value)
		}
	}
	// Output:
	// false <nil>
	// true <nil>
	// sv_gravity = 800
}
