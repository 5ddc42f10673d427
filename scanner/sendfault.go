package scanner

import (
	"errors"
	"syscall"
)

// SendFault is the reason why a datagram could not be sent.
type SendFault uint8

// The faults of sending.
const (
	SendOther     SendFault = iota // anything else
	SendPutOff                     // the kernel refused it with ErrAgain too many times
	SendNetwork                    // the network is unreachable
	SendHost                       // the host is unreachable
	SendForbidden                  // a firewall or the system forbids it
	SendAddress                    // the address is not valid as a destination
	SendInterface                  // the interface is down or gone
	NumSendFaults = iota
)

var sendFaultWords = [NumSendFaults]string{
	"other", "put_off", "network_unreachable", "host_unreachable", "forbidden", "bad_address", "interface_down",
}

// String returns the summary's word for f.
func (f SendFault) String() string { return sendFaultWords[f] }

// sendFaultOf classifies an error of Send.
func sendFaultOf(err error) SendFault {
	var no syscall.Errno
	if isAgain(err) {
		return SendPutOff
	}
	if !errors.As(err, &no) {
		return SendOther
	}
	switch no {
	case syscall.ENETUNREACH:
		return SendNetwork
	case syscall.EHOSTUNREACH:
		return SendHost
	case syscall.EPERM, syscall.EACCES:
		return SendForbidden
	case syscall.EINVAL, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.EDESTADDRREQ:
		return SendAddress
	case syscall.ENETDOWN, syscall.ENODEV, syscall.ENXIO:
		return SendInterface
	}
	return SendOther
}
