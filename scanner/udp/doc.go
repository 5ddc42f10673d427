// Package udp provides the socket of a scan. It sends and receives datagrams in
// batches, many of them with each system call.
//
// # Words
//
// A batch is what one system call sends or receives, at most 128 datagrams. A
// culprit is the datagram at which sending stopped. A pending error is an ICMP message
// about a datagram that was sent earlier. The kernel reports it on the next call, whatever
// that call does.
//
// # Receiving
//
// On Linux this package itself allocates nothing for a datagram. But it calls ReadBatch of
// golang.org/x/net, which allocates two objects for the source address of each datagram
// received (a net.UDPAddr of 48 bytes and an address of 4), and two objects (112 bytes)
// for the error if there was nothing to read.
//
// # Sending
//
// A pending error does not cause the loss of a datagram: if such an error interrupts the
// sending of a datagram, Send removes the error from the queue and sends the datagram
// again at once.
//
// # Concurrency
//
// One goroutine may be in Recv and one in Send at a time. Any goroutine may call
// Interrupt, Stats, Unreachable, LocalAddr and Close.
//
// # Systems
//
// On Linux everything described here works, and the socket is an Unpolled: Go's poller
// does not know it. On other systems, and with the build tag portable, the package reads
// and writes datagrams one at a time. The interface is the same, but the package is
// slower. Recv waits at least 50 µs for a datagram, and Send may wait for room in the
// socket's buffer. Kernel drops aren't counted, and Unreachable returns 0.
package udp
