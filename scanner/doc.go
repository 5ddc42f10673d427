// Package scanner asks game servers what they are, very many of them at once,
// over one UDP socket, by Valve's A2S protocol.
//
// # Use
//
// [Scan] is the door: it takes a [Config], of which the zero value is a polite
// scan with all three questions, and a sequence of addresses, and calls a
// function once for each with a [Result]: what that server answered, or why
// nothing of use came.
//
//	list := []scanner.Target{{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}}
//	stats, err := scanner.Scan(ctx, scanner.Config{}, slices.Values(list), func(r *scanner.Result) {
//		fmt.Printf("%v %v %q\n", r.Addr, r.Status, r.Info.Name)
//	})
//
// Scan returns when all are asked and the late replies are in; [Stats] accounts
// for every target and every datagram, and a [Monitor] shows them while it runs.
// Lists in files, networks, exclusions and the order of asking are package
// target's; lists from a master server package master's; files of results
// package sink's. One server is asked like a million: a slice of one.
//
// To read datagrams that somebody else received there is [Decoder], which makes
// the same Result of them. It needs no network. For single messages, without any
// state, there is package wire.
//
// Scan leaves nobody out: addresses of private networks and of this machine are
// asked as all others. What should not be asked is for the sequence to leave
// out (package target does), or for Config.Excluded.
//
// # Buffers
//
// The slices of a Result follow the buffer rule of package wire: they are valid
// until the function that was given them returns; [Result.Clone] keeps. That
// function is called by one goroutine, one call at a time. It may take its time,
// and then the scan slows down. Texts are what strangers sent: print them with
// %q, or escaped in another way.
//
// # How it works
//
//	targets → feed ─▶ ┌───────────────── loop ─────────────────┐ ─▶ finisher → handle
//	                  │ receive a batch   demultiplexer, slots │
//	                  │ wake who waited   timing wheel         │
//	                  │ send a batch      token bucket         │ ◀─▶ decompressor
//	                  └────────────────────────────────────────┘
//
// One loop owns the socket and all that is known of open targets, so nothing
// in it is locked, and each turn of it reads the clock, receives, sends and
// sleeps at most once. Others hand over blocks: the reader of the list, which
// may block; the decompressor, which may take long; the finisher, which makes
// Results of replies and calls the caller. The loop waits for none of them: a
// new target is started only when there is a place for all that it may answer.
//
// What a server is asked, and when, is a pure step (step.go); how its replies
// become a Result is one function, which a Decoder uses for captures too
// (assemble.go). A server that answers as most do is asked with four datagrams:
//
//	scanner                                             server
//	   │── INFO ─────────────────────────────────────────▶│
//	   │◀───────────────────────────────────── challenge ─│
//	   │── INFO, PLAYER and RULES with the challenge ────▶│
//	   │◀── one answer to each, any of them in fragments ─│
//
// Limits keep others unharmed: of datagrams a second, and of datagrams a
// second and address. Limits keep the scanner unharmed: of targets in flight,
// and of bytes held. Each is a field of Config.
package scanner
