// Package udp is the one socket of a scan: datagrams go out and come in by the
// batch, many of them with each system call.
//
// # Words
//
// A batch is what one system call takes or brings, at most Config.Batch
// datagrams. A culprit is the datagram at which sending stopped. A pending
// error is an ICMP message about some datagram sent earlier; the kernel reports
// it on the next call, whatever that call is for.
//
// # Receiving
//
// Recv fills in Packets whose Data lies in the Conn's own buffers: it is valid
// until the next Recv and no longer. Every buffer is as long as the longest
// datagram, and the kernel touches only the part that it writes, so the buffers
// of a quiet socket take little memory however many they are.
//
// On Linux this package allocates nothing for a datagram. The batches of
// golang.org/x/net allocate two objects for the source address of each datagram
// received (a net.UDPAddr of 48 bytes and an address of 4), and two (112 bytes)
// for the error when nothing was there to be read.
//
// # Sending
//
// Send goes on until a datagram can't be sent, and says of that one why. A
// pending error never costs a datagram: it is put aside, and the datagram that
// met it is sent again at once. What the pending errors said is told by
// Unreachable.
//
// # Who may call what
//
// One goroutine may be in Recv and one in Send at a time; Interrupt, Stats,
// Unreachable, LocalAddr and Close may be called by any.
//
// # Systems
//
// Linux has all of it, and an Unpolled beneath: the socket is kept out of Go's
// poller. Elsewhere, and with the build tag portable, datagrams
// are read and written one at a time, which is the same to the caller but for
// its speed: drops in the kernel aren't counted, Unreachable knows of nothing,
// Device is refused, and Send may wait for room in the socket's buffer.
package udp
