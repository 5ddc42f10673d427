package scanner_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// A target that does not answer has a Result, too. Nothing listens at this address,
// so the scan gives it up after one attempt.
func ExampleScan_silent() {
	targets := []scanner.Target{
		{Addr: netip.MustParseAddrPort("127.0.0.1:9"), Tag: "mine"},
	}
	cfg := scanner.Config{
		Timeout:  20 * time.Millisecond,
		Retries:  scanner.Off,
		Cooldown: scanner.Off,
	}
	stats, err := scanner.Scan(context.Background(), cfg, slices.Values(targets),
		func(r *scanner.Result) { fmt.Println(r.Addr, r.Tag, r.HasInfo) })
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(stats.TargetsFinished(), "asked,", stats.Answered(), "answered")
	// Output:
	// 127.0.0.1:9 mine false
	// 1 asked, 0 answered
}

// Decode the datagrams of one server from a capture.
func ExampleDecoder() {
	reply, _ := hex.DecodeString("ffffffff4902" + // INFO, protocol 2
		"5a6f6f00" + "646500" + "6300" + "4300" + // name, map, folder, game
		"f000" + "051004" + "646c" + "0000" + "3100") // app, counts, type and system, no password, version
	d := scanner.NewDecoder()
	d.Add(reply)
	r := d.Result()
	fmt.Printf("%s: %s on %s, %d of %d players\n",
		r.Status, r.Info.Name, r.Info.Map, r.Info.Players, r.Info.MaxPlayers)
	// Output:
	// ok: Zoo on de, 5 of 16 players
}
