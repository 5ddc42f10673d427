package udp

import "golang.org/x/sys/unix"

// Linux alone turns these into errors, too: ICMP messages, as icmp_err_convert in its
// source does, and EPROTO for a bad parameter.
func init() {
	icmpErrnos = append(icmpErrnos, unix.ENONET, unix.EOPNOTSUPP, unix.EMSGSIZE, unix.EPROTO)
}
