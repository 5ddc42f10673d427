package scanner_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// A target that does not answer has a Result, too. Nothing listens at this address,
// so the scan gives it up after one attempt.
func ExampleScan_silent() {
	targets := []scanner.Target{
		{Addr: netip.MustParseAddrPort("127.0.0.1:9"), Tag: "mine"},
	}
	cfg := scanner.Config{
		Timeout:  20 * time.Millisecond,
		Attempts: 1,
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

// Query one server. This one runs in the example and answers only INFO.
func ExampleQuery() {
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go func() {
		request := make([]byte, 64)
		for {
			_, from, err := server.ReadFrom(request)
			if err != nil {
				return
			}
			in := wire.Info{
				Format: wire.FormatSource, Name: []byte("Zoo"), Map: []byte("de_dust2"),
				Has: wire.HasProtocol | wire.HasName | wire.HasMap,
			}
			server.WriteTo(wire.AppendInfo(nil, &in), from)
		}
	}()

	addr := server.LocalAddr().(*net.UDPAddr).AddrPort()
	r, err := scanner.Query(context.Background(), scanner.Config{Questions: wire.AskInfo}, addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q plays %q\n", r.Info.Name, r.Info.Map)
	// Output:
	// "Zoo" plays "de_dust2"
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
