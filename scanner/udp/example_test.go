package udp_test

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// Skip a datagram that can't be sent, unless it may be sent later.
func Example() {
	c, err := udp.Listen(udp.Config{Source: netip.MustParseAddrPort("127.0.0.1:0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	self := udp.Pack(c.LocalAddr())
	queue := []udp.Packet{
		{Addr: self, Data: []byte("one")},
		{Addr: udp.Pack(netip.MustParseAddrPort("127.0.0.1:0")), Data: []byte("two")},
		{Addr: self, Data: []byte("three")},
	}
	for len(queue) > 0 {
		n, err := c.Send(queue)
		queue = queue[n:]
		if err != nil && !errors.Is(err, udp.ErrAgain) {
			fmt.Println("can't be sent:", string(queue[0].Data))
			queue = queue[1:]
		}
	}

	in := make([]udp.Packet, 64)
	for got := 0; got < 2; {
		n, err := c.Recv(in, time.Second)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range in[:n] {
			fmt.Println(string(p.Data), p.Addr == self)
		}
		got += n
	}
	// Output:
	// can't be sent: two
	// one true
	// three true
}
