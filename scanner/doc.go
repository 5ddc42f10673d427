// Package scanner queries game servers in bulk over Valve's A2S protocol: any
// number of them at once, over one UDP socket.
//
// # Use
//
// [Scan] is the entry point. It takes a sequence of targets and a [Config]. The zero
// Config asks each server for info, players and rules, at a moderate rate. For each target
// that Scan has queried, it calls a function once with a [Result]: what that server
// answered, or why there is no useful answer.
//
//	list := []scanner.Target{{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}}
//	stats, err := scanner.Scan(ctx, scanner.Config{}, slices.Values(list), func(r *scanner.Result) {
//		fmt.Printf("%v %v %q\n", r.Addr, r.Status, r.Info.Name)
//	})
//
// Scan returns when all targets are finished and it has waited for late replies. It
// returns [Stats], which account for every target and every datagram. A [Monitor] shows
// the Stats of a running scan. [Query] queries a single server. Package list reads lists
// from files, expands networks, excludes addresses and sets the order; package master
// fetches lists from a master server; package sink writes Results to files.
//
// [Decoder] makes Results from datagrams that another program received. It needs no
// network. To decode single messages, use package wire.
//
// By default, Scan excludes no addresses, not even private networks or this machine. To
// exclude addresses, filter the sequence, as package list does, or set Config.Excluded.
//
// # Buffers
//
// The slices of a Result are valid until the function that received the Result
// returns; use [Result.Clone] to keep them. One goroutine calls that function, one
// call at a time. A slow function slows the scan down. The strings in a Result were
// chosen by strangers: print them with %q, or escape them in another way.
//
// # How it works
//
//	             ┌───────────────────────── engine: one loop ─────────────────────────┐
//	targets      │                                                                    │
//	   │         │   ┌────────┐ next target  ┌────────┐ batch                         │
//	   ▼         │   │ supply ├─────────────▶│ sender ├────────────────▶ udp.Conn ────┼──▶ servers
//	 feed ───────┼──▶│        │  how many?   │        │                  (transport)   │
//	             │   └───┬────┘  pacer ─────▶└───┬────┘                      │        │
//	             │       │ limits: addrs         │ due requests              │        │
//	             │       ▼                       │                           ▼        │
//	             │   ┌───────────────────────────┴───┐  event          ┌──────────┐   │
//	             │   │ sessions: slots, queue, wheel │◀────────────────┤ receiver │◀──┼──── replies
//	             │   │ and the pure step of each     │                 └────┬─────┘   │
//	             │   └──────────────┬────────────────┘                      │         │
//	             │                  │ outcome                               │         │
//	             │              handoff                  fragments: reasm      ◀──────┼──▶ decompressor
//	             └──────────────────┼─────────────────────────────────────────────────┘
//	                                ▼
//	                            finisher ──▶ handle(*Result)
//
// One loop (engine.go) owns the socket and the state of all open targets, so nothing in
// it needs a lock. In each turn the loop receives a batch, wakes the sessions that have
// waited long enough, and sends a batch. It sleeps if there was nothing to receive or
// send. Each part has its own file, owns its data and returns values. The engine passes
// on to each part what the other parts found: engine.take does so for a received
// datagram, engine.sent for a sent datagram, and engine.done for a finished target.
//
// Three goroutines exchange data with the loop: the reader of the list, which may
// block; the decompressor, which may take long; and the finisher. The loop never waits
// for them. It starts a new target only when there is room for its answers.
//
// One function turns the replies of a server into a Result (assemble.go); Decoder
// uses it too. Most servers need four requests:
//
//	scanner                                             server
//	   │── INFO ─────────────────────────────────────────▶│
//	   │◀───────────────────────────────────── challenge ─│
//	   │── INFO, PLAYER and RULES with the challenge ────▶│
//	   │◀── one answer to each, any of them in fragments ─│
//
// A program that asks the same servers again soon may put Result.Challenge into
// Target.Challenge. If the server still accepts this challenge, INFO takes one request and
// one answer; if the server ignores the request, INFO takes a second request. With
// Target.InfoOnly, the scan asks only INFO.
//
// Config.Rate and Config.AddressRate protect networks and servers. Tuning.InFlight and
// Tuning.ByteBudget protect the scanner.
package scanner
