package udp

import "golang.org/x/sys/unix"

// Only Linux returns these errors for ICMP messages. icmp_err_convert in the kernel's
// source lists all of them except EPROTO, which stands for a bad parameter.
func init() {
	icmpErrnos = append(icmpErrnos, unix.ENONET, unix.EOPNOTSUPP, unix.EMSGSIZE, unix.EPROTO)
}
