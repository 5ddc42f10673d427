// Package scanner asks game servers what they are, very many of them at once,
// over one UDP socket.
//
// Scan is the door: it takes addresses and calls a function once for each,
// with what that server answered.
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
// (assemble.go).
//
// Limits keep others unharmed: of datagrams a second, and of datagrams a
// second and address. Limits keep the scanner unharmed: of targets in flight,
// and of bytes held. Each is a field of Config.
//
// The slices of a Result follow the buffer rule of package wire: they are
// valid until the function that was given them returns.
package scanner
