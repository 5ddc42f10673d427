package udp

import "golang.org/x/sys/unix"

// Only Linux returns these errors for ICMP messages: icmp_err_convert in its source
// lists them, and EPROTO stands for a bad parameter.
func init() {
	icmpErrnos = append(icmpErrnos, unix.ENONET, unix.EOPNOTSUPP, unix.EMSGSIZE, unix.EPROTO)
}
