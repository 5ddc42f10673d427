// Package scanner queries game servers in bulk over Valve's A2S protocol: any
// number of them at once, over one UDP socket.
//
// # Use
//
// [Scan] is the entry point. It takes a [Config], whose zero value is a polite
// scan with all three questions, and a sequence of addresses. It calls a function
// once for each with a [Result]: what that server answered, or why nothing useful
// came.
//
//	list := []scanner.Target{{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}}
//	stats, err := scanner.Scan(ctx, scanner.Config{}, slices.Values(list), func(r *scanner.Result) {
//		fmt.Printf("%v %v %q\n", r.Addr, r.Status, r.Info.Name)
//	})
//
// Scan returns when all targets are finished and the late replies are in. [Stats]
// accounts for every target and every datagram, and a [Monitor] shows them while
// the scan runs. Package list reads lists from files, expands networks, excludes
// addresses and sets the order; package master fetches lists from a master server;
// package sink writes Results to files. One server is a slice of one.
//
// [Decoder] makes the same Result from datagrams that another program received.
// It needs no network. For single messages, without any state, there is package
// wire.
//
// Scan leaves out no address by itself, not even private networks and this
// machine. To leave addresses out, filter the sequence, as package list does, or
// set Config.Excluded.
//
// # Buffers
//
// The slices of a Result follow the buffer rule of package wire: they are valid
// until the function that got them returns; [Result.Clone] keeps them. One
// goroutine calls that function, one call at a time. A slow function slows the
// scan down. Texts come from strangers: print them with %q, or escape them in
// another way.
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
//	             │   │ sessions: slots, index, wheel │◀────────────────┤ receiver │◀──┼──── replies
//	             │   │ and the pure step of each     │                 └────┬─────┘   │
//	             │   └──────────────┬────────────────┘                      │         │
//	             │                  │ outcome                               │         │
//	             │              handoff                  fragments: reassembly ◀──────┼──▶ decompressor
//	             └──────────────────┼─────────────────────────────────────────────────┘
//	                                ▼
//	                            finisher ──▶ handle(*Result)
//
// One loop (engine.go) owns the socket and everything known about open targets, so
// nothing in it needs a lock. A turn of the loop reads the clock, receives a batch,
// wakes the sessions that waited long enough, sends a batch, and sleeps if there
// was neither. Each part has a file of its own:
//
//   - receiver (receive.go, reassemble.go) finds the session of each datagram, keeps
//     the answer, and classifies the datagram.
//   - sessions (sessions.go) are the open targets. Each is a pure step (session.go): an
//     event in, requests and a wake-up time out. The waits are in [Schedule].
//   - learner (learner.go) learns from the round trips how long to wait.
//   - supply (supply.go) chooses the next target: from the list, from those that the
//     limit of their address (addrs.go) held back, or for the second pass.
//   - sender (send.go) fills a batch (fill.go: follow-ups, then retries, then new
//     targets) and deals with datagrams that the kernel refuses.
//   - pacer (pacer.go) decides how large the batch is: a token bucket (pace.go), whose
//     rate a governor (govern.go) sets if the scan has none.
//   - handoff (handoff.go) takes finished targets to the finisher (finisher.go), which
//     makes Results and calls the caller's function.
//   - report.go publishes the numbers and takes snapshots.
//
// Three goroutines exchange blocks with the loop: the reader of the list, which may
// block; the decompressor, which may take long; and the finisher. The loop waits
// for none of them. It starts a new target only when there is room for everything
// that the target may answer.
//
// One function makes a Result of the replies of a server (assemble.go); a Decoder
// uses it too. Most servers need four datagrams:
//
//	scanner                                             server
//	   │── INFO ─────────────────────────────────────────▶│
//	   │◀───────────────────────────────────── challenge ─│
//	   │── INFO, PLAYER and RULES with the challenge ────▶│
//	   │◀── one answer to each, any of them in fragments ─│
//
// Limits protect others: datagrams a second, and datagrams a second and address.
// Limits protect the scanner: targets in flight, and bytes held. Each is a field
// of Config.
//
// # Timeouts
//
// Without Config.Timeout a scan learns from its round trips how long to wait. Q is
// the time that 1 in 100 first answers takes longer than, of the last 4096 to 8192
// servers:
//
//	timeout   1.25 × Q + 10 ms, at least 150 ms, at most 1 s
//	cooldown  2 × Q, at least 150 ms, at most 2 s
//
// Servers 20 to 200 ms away have a Q of 208 ms, the end of the bucket that 200 ms are
// in, and a timeout of 270 ms. Until the scan has run for a second and 256 servers
// have answered, the timeout is 1 s: answers that are known early are the quick ones.
// A /8 whose Q differs by a factor of 1.5 has a timeout of its own. The answer to a
// request that was sent several times counts only if copies of it show that it is
// late: loss alone makes no timeout longer. If one first answer in five is of unknown
// age, the timeout is 1 s.
//
// Attempts come earlier that way, and nothing is given up earlier (schedule.go has
// the table). A question that is not asked again stays open as long as with a
// timeout of 1 s. A target that sent nothing at all gives its slot back, and is
// listened for until then in 16 bytes (listening.go); a late answer reopens it. When
// all targets are started, the scan waits for these two no longer than twice the
// time that 1 in 5000 answers takes longer than, after the last request.
package scanner
