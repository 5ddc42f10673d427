package doctor

import (
	"net/netip"

	a2sudp "github.com/a2sscan/a2sscan/scanner/udp"
)

// grantedBuffers requests socket buffers as a scan does, and returns the sizes that
// the kernel granted, in bytes.
func grantedBuffers(recv, send int) (gotRecv, gotSend int, err error) {
	c, err := a2sudp.Listen(a2sudp.Config{RecvBuffer: recv, SendBuffer: send})
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	s := c.Stats()
	return s.RecvBuffer, s.SendBuffer, nil
}

// tryBind opens and closes the socket that a scan would send from.
func tryBind(from netip.AddrPort) error {
	c, err := a2sudp.Listen(a2sudp.Config{Source: from})
	if err != nil {
		return err
	}
	return c.Close()
}
