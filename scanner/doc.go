// Package scanner queries game servers in bulk over Valve's A2S protocol: any
// number of them at once, over one UDP socket.
//
// # Use
//
// [Scan] is the entry point. It takes a [Config], whose zero value is a polite
// scan with all three questions, and a sequence of targets. For each target it calls
// a function once with a [Result]: what that server answered, or why it gave no
// useful answer.
//
//	list := []scanner.Target{{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}}
//	stats, err := scanner.Scan(ctx, scanner.Config{}, slices.Values(list), func(r *scanner.Result) {
//		fmt.Printf("%v %v %q\n", r.Addr, r.Status, r.Info.Name)
//	})
//
// Scan returns when all targets are finished and it has waited for late replies.
// [Stats] accounts for every target and every datagram, and a [Monitor] shows them
// while the scan runs. Package list reads lists from files, expands networks, excludes
// addresses and sets the order; package master fetches lists from a master server;
// package sink writes Results to files. [Query] queries a single server.
//
// [Decoder] makes the same Result from datagrams that another program received.
// It needs no network. To decode single messages, use package wire.
//
// Scan excludes no addresses of its own accord, not even private networks or this
// machine. To exclude addresses, filter the sequence, as package list does, or set
// Config.Excluded.
//
// # Buffers
//
// The slices of a Result are valid until the function that received the Result
// returns; use [Result.Clone] to keep them. One goroutine calls that function, one
// call at a time. A slow function slows the scan down. Servers choose the strings in
// a Result: print them with %q, or escape them in another way.
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
//	             │              handoff                  fragments: reasm      ◀──────┼──▶ decompressor
//	             └──────────────────┼─────────────────────────────────────────────────┘
//	                                ▼
//	                            finisher ──▶ handle(*Result)
//
// One loop (engine.go) owns the socket and the state of all open targets, so
// nothing in it needs a lock. A turn of the loop reads the clock, receives a batch,
// wakes the sessions that have waited long enough, sends a batch, and sleeps if there
// was nothing to receive or send. Each part has its own file:
//
//   - receiver (receive.go) finds the session of each datagram, gives it the datagram,
//     and classifies the datagram. It puts split replies together.
//   - sessions (sessions.go) are the open targets. Each is a state machine without I/O
//     (package internal/session): it takes an event and returns requests and a wake-up
//     time. The lengths of the waits are in [Schedule].
//   - learner (learner.go) learns from the round trips how long to wait. listening
//     (listening.go) has the targets that were given up early for that.
//   - supply (supply.go) chooses the next target: from the list, from the targets that
//     the rate limit of their address (addrs.go) held back, or for the second pass.
//   - sender (send.go) fills a batch (follow-ups, then retries, then new targets) and
//     deals with datagrams that the kernel refuses.
//   - pacer (pacer.go) decides how large the batch is. It has a token bucket (pace.go);
//     if the scan has no rate, or has to find the rate that the path carries, a
//     rateFinder (ratefinder.go) sets that of the bucket.
//   - handoff (handoff.go) takes finished targets to the finisher, which makes Results
//     and calls the caller's function.
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
// Whoever asks the same servers again soon may put Result.Challenge into
// Target.Challenge. Where the server still accepts it, INFO then takes one request and
// one answer; where it does not, one datagram more. With Target.InfoOnly nothing else
// is asked.
//
// Two limits protect others: datagrams per second, and datagrams per second to one
// address. Two limits protect the scanner: targets in flight, and bytes held. Each is
// a field of Config.
//
// # The rate of the path
//
// With Config.FindRate a scan finds the rate that its path carries, up to
// Config.Rate. What a router drops is invisible to the sender, and a dead target or
// random loss looks the same: a request has no answer. But only on a full path does
// loss follow the rate. So the scan now and then tries a higher rate for 60 to 500 ms,
// and compares the shares of first requests that were answered. If the higher rate
// loses as little as the lower one, the scan takes it and tries a higher one. If it
// loses more, the scan falls to 0.95 of what the path carried. See rateFinder.
//
// # Timeouts
//
// Without Config.Timeout a scan learns from its round trips how long to wait. Q is
// the round trip that 1 in 100 first answers exceeds, taken over the last 4096 to
// 8192 servers:
//
//	timeout   1.25 × Q + 10 ms, at least 150 ms, at most 1 s
//	cooldown  2 × Q, at least 150 ms, at most 2 s
//
// If servers are 20 to 200 ms away, Q is 208 ms, the upper end of the histogram
// bucket that contains 200 ms, and the timeout is 270 ms. Until the scan has run for
// a second and 256 servers have answered, the timeout is 1 s, because the first
// answers to arrive are the quick ones. A /8 with 200 answers whose Q differs by a
// factor of 1.5 has a timeout of its own. The answer to a request that was sent
// several times counts only if copies of it show that it is late: loss alone makes
// no timeout longer. If more than one first answer in five is of unknown age, the
// timeout is 1 s.
//
// So attempts are made earlier, but nothing is given up earlier (see Schedule). A question after its last attempt stays open as long as with a timeout of
// 1 s. A target that sent nothing at all gives up its slot, and the scan listens for
// it that long with only 16 bytes of memory (listening.go); a late answer reopens
// it. Once all targets are started, both waits are shorter: they end when twice the
// time that 1 in 5000 answers exceeds has passed since the last request. A question
// to a server that answered something waits at least 1 s.
package scanner
